(* The probabilities of programs with Laplace or exponential noise: each is defined as an iterated integral, and its closed form is computed and proved.

   A program is run with a variable for each noise. This gives products of functions of one variable each, where variables keep an
   order. Each function is a sum of terms c * eps^k * (eps*x)^n * exp (eps*(q + l*x)) on each of some intervals. To integrate such a
   product over its last variable, the greatest of its lower bounds and the least of its upper bounds are told apart; the integral is
   then a function at one of them, or the difference of two. *)
Require Import QArith Qreals.
Open Scope R_scope.
Module Programs.

(* === sums of terms === *)
(* T c k q n l is c * eps^k * (eps*x)^n * exp (eps*(q + l*x)). *)
Inductive term := T (c : Q) (k : nat) (q : Q) (n : nat) (l : Q).
Definition sum := list term.

Section Sums.
Variable eps : R.
Hypothesis E : 0 < eps.

Definition ev1 (t : term) (x : R) :=
  match t with T c k q n l => Q2R c * eps ^ k * (eps * x) ^ n * exp (eps * (Q2R q + Q2R l * x)) end.
Fixpoint ev (s : sum) (x : R) : R := match s with nil => 0 | t :: r => ev1 t x + ev r x end.

Lemma red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Fixpoint insert (t : term) (s : sum) : sum :=
  match s with
  | nil => [t]
  | u :: r =>
      let '(T c k q n l) := t in let '(T c' k' q' n' l') := u in
      if (Nat.eqb k k' && Qeq_bool q q' && Nat.eqb n n' && Qeq_bool l l')%bool then
        let d := Qred (c + c') in if Qeq_bool d 0 then r else T d k q n l :: r
      else u :: insert t r
  end.
Lemma insert_ok t s x : ev (insert t s) x = ev1 t x + ev s x.
Proof.
  revert t. induction s as [|u r IH]; intros t; [reflexivity|].
  destruct t as [c k q n l], u as [c' k' q' n' l']. cbn [insert].
  destruct (Nat.eqb_spec k k') as [K|]; [|cbn [andb ev]; rewrite IH; ring].
  destruct (Qeq_bool q q') eqn:A; [|cbn [andb ev]; rewrite IH; ring].
  destruct (Nat.eqb_spec n n') as [N|]; [|cbn [andb ev]; rewrite IH; ring].
  destruct (Qeq_bool l l') eqn:B; [|cbn [andb ev]; rewrite IH; ring].
  cbn [andb]. cbv zeta. apply Qeq_bool_eq, Qeq_eqR in A. apply Qeq_bool_eq, Qeq_eqR in B. subst.
  destruct (Qeq_bool (Qred (c + c')) 0) eqn:Z; cbn [ev ev1]; rewrite A, B.
  - apply Qeq_bool_eq, Qeq_eqR in Z. rewrite red, Q2R_plus, RMicromega.Q2R_0 in Z.
    replace (Q2R c) with (- Q2R c') by lra. ring.
  - rewrite red, Q2R_plus. ring.
Qed.
Definition add (a b : sum) : sum := fold_right insert b a.
Lemma add_ok a b x : ev (add a b) x = ev a x + ev b x.
Proof. unfold add. induction a as [|t r IH]; cbn [fold_right ev]; [ring|]. rewrite insert_ok, IH. ring. Qed.

Definition times1 (t u : term) :=
  match t, u with T c k q n l, T c' k' q' n' l' => T (Qred (c * c')) (k + k') (Qred (q + q')) (n + n') (Qred (l + l')) end.
Lemma times1_ok t u x : ev1 (times1 t u) x = ev1 t x * ev1 u x.
Proof.
  destruct t as [c k q n l], u as [c' k' q' n' l']. cbn [ev1 times1]. rewrite !red, Q2R_mult, !Q2R_plus, !pow_add.
  replace (eps * (Q2R q + Q2R q' + (Q2R l + Q2R l') * x)) with (eps * (Q2R q + Q2R l * x) + eps * (Q2R q' + Q2R l' * x)) by ring.
  rewrite exp_plus. ring.
Qed.
Definition scale (t : term) (s : sum) := map (times1 t) s.
Lemma scale_ok t s x : ev (scale t s) x = ev1 t x * ev s x.
Proof. unfold scale. induction s as [|u r IH]; cbn [map ev]; [ring|]. rewrite IH, times1_ok. ring. Qed.
Definition mul (a b : sum) : sum := fold_right (fun t r => add (scale t b) r) nil a.
Lemma mul_ok a b x : ev (mul a b) x = ev a x * ev b x.
Proof. unfold mul. induction a as [|t r IH]; cbn [fold_right ev]; [ring|]. rewrite add_ok, scale_ok, IH. ring. Qed.

Definition number (c : Q) : sum := [T c 0 0 0 0].
Lemma number_ok c x : ev (number c) x = Q2R c.
Proof. cbn. replace (eps * (0 + 0 * x)) with 0 by ring. rewrite RMicromega.Q2R_0. replace (eps * (0 + 0 * x)) with 0 by ring. rewrite exp_0. ring. Qed.
Definition opp (s : sum) := scale (T (-1) 0 0 0 0) s.
Lemma opp_ok s x : ev (opp s) x = - ev s x.
Proof.
  unfold opp. rewrite scale_ok. cbn [ev1 pow]. rewrite RMicromega.Q2R_0. replace (eps * (0 + 0 * x)) with 0 by ring. rewrite exp_0.
  replace (Q2R (-1)) with (-1) by (unfold Q2R; cbn; lra). ring.
Qed.

(* The sum at the rational x = b, a sum that does not depend on x. *)
Fixpoint power (b : Q) (n : nat) : Q := match n with O => 1%Q | S m => Qred (b * power b m) end.
Lemma power_ok b n : Q2R (power b n) = Q2R b ^ n.
Proof. induction n as [|n IH]; cbn [power pow]; [apply RMicromega.Q2R_1|]. rewrite red, Q2R_mult, IH. reflexivity. Qed.
Definition at1 (b : Q) (t : term) :=
  match t with T c k q n l => T (Qred (c * power b n)) (k + n) (Qred (q + l * b)) 0 0 end.
Definition at_ (b : Q) (s : sum) : sum := fold_right (fun t r => insert (at1 b t) r) nil s.
Lemma at_ok b s x : ev (at_ b s) x = ev s (Q2R b).
Proof.
  unfold at_. induction s as [|[c k q n l] r IH]; cbn [fold_right ev]; [reflexivity|]. rewrite insert_ok, IH. f_equal.
  cbn [ev1 at1]. rewrite !red, Q2R_mult, Q2R_plus, Q2R_mult, power_ok, pow_add, !Rpow_mult_distr, RMicromega.Q2R_0.
  replace (eps * (Q2R q + Q2R l * Q2R b + 0 * x)) with (eps * (Q2R q + Q2R l * Q2R b)) by ring. cbn [pow]. ring.
Qed.

(* The sum at x + s. *)
Fixpoint linear_power (s : Q) (n : nat) : sum :=
  match n with O => number 1 | S m => mul [T 1 0 0 1 0; T s 1 0 0 0] (linear_power s m) end.
Lemma linear_power_ok s n x : ev (linear_power s n) x = (eps * (x + Q2R s)) ^ n.
Proof.
  induction n as [|n IH]; cbn [linear_power pow]; [rewrite number_ok; apply RMicromega.Q2R_1|]. rewrite mul_ok, IH. cbn [ev ev1 pow].
  rewrite RMicromega.Q2R_0, RMicromega.Q2R_1. replace (eps * (0 + 0 * x)) with 0 by ring. rewrite exp_0. ring.
Qed.
Definition shift1 (s : Q) (t : term) : sum :=
  match t with T c k q n l => scale (T c k (Qred (q + l * s)) 0 l) (linear_power s n) end.
Lemma shift1_ok s t x : ev (shift1 s t) x = ev1 t (x + Q2R s).
Proof.
  destruct t as [c k q n l]. cbn [shift1]. rewrite scale_ok, linear_power_ok. cbn [ev1 pow]. rewrite red, Q2R_plus, Q2R_mult.
  replace (eps * (Q2R q + Q2R l * (x + Q2R s))) with (eps * (Q2R q + Q2R l * Q2R s + Q2R l * x)) by ring. ring.
Qed.
Definition shift (s : Q) (a : sum) : sum := fold_right (fun t r => add (shift1 s t) r) nil a.
Lemma shift_ok s a x : ev (shift s a) x = ev a (x + Q2R s).
Proof. unfold shift. induction a as [|t r IH]; cbn [fold_right ev]; [reflexivity|]. rewrite add_ok, shift1_ok, IH. ring. Qed.

(* === antiderivatives of eps times a sum === *)
Fixpoint anti_exp (c : Q) (k : nat) (q : Q) (n : nat) (l : Q) : sum :=
  let d := Qred (c / l) in
  match n with O => [T d k q 0 l] | S m => T d k q n l :: anti_exp (Qred (- (d * inject_Z (Z.of_nat n)))) k q m l end.
Definition anti1 (t : term) : sum :=
  match t with T c k q n l =>
    if Qeq_bool l 0 then [T (Qred (c / inject_Z (Z.of_nat (S n)))) k q (S n) 0] else anti_exp c k q n l
  end.
Definition anti (s : sum) : sum := fold_right (fun t r => add (anti1 t) r) nil s.

Lemma is_derive_val (f : R -> R) x (a b : R) : a = b -> is_derive f x a -> is_derive f x b.
Proof. intros ->. auto. Qed.
Lemma is_derive_ev1 c k q n l x :
  is_derive (ev1 (T c k q n l)) x (eps * (INR n * Q2R c * eps ^ k * (eps * x) ^ pred n * exp (eps * (Q2R q + Q2R l * x)) + Q2R l * ev1 (T c k q n l) x)).
Proof. unfold ev1. auto_derive; [exact I|]. ring. Qed.
Lemma inject_nat n : Q2R (inject_Z (Z.of_nat n)) = INR n.
Proof. unfold Q2R, inject_Z. cbn [Qnum Qden]. rewrite INR_IZR_INZ. field. Qed.
Lemma anti_exp_ok c k q n l x : Qeq_bool l 0 = false -> is_derive (ev (anti_exp c k q n l)) x (eps * ev1 (T c k q n l) x).
Proof.
  intros L. assert (L' : Q2R l <> 0).
  { intros Z. rewrite <- RMicromega.Q2R_0 in Z. apply eqR_Qeq in Z. apply Qeq_bool_neq in L. exact (L Z). }
  assert (L'' : ~ l == 0) by (apply Qeq_bool_neq; exact L).
  revert c. induction n as [|n IH]; intros c.
  - cbn [anti_exp]. cbv zeta. apply (is_derive_ext (ev1 (T (Qred (c / l)) k q 0 l))); [intros; cbn [ev]; symmetry; apply Rplus_0_r|].
    eapply is_derive_val; [|apply is_derive_ev1]. cbn [ev1 INR pow]. rewrite red, Q2R_div by exact L''. field. exact L'.
  - cbn [anti_exp]. cbv zeta. match goal with |- is_derive (ev (?a :: ?b)) _ _ => apply (is_derive_ext (fun x => plus (ev1 a x) (ev b x))); [intros; reflexivity|] end.
    eapply is_derive_val; [|apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule)); [apply is_derive_ev1|apply IH]].
    unfold plus. cbn -[Q2R Qred Qdiv Qmult Qopp INR pow pred inject_Z Z.of_nat ev1]. cbn [ev1]. rewrite !red, Q2R_opp, Q2R_mult, red, inject_nat, Q2R_div by exact L''. cbn [pred]. field. exact L'.
Qed.

Lemma anti_ok s x : is_derive (ev (anti s)) x (eps * ev s x).
Proof.
  induction s as [|[c k q n l] r IH].
  - apply (is_derive_ext (fun _ => 0)); [reflexivity|]. apply is_derive_val with 0; [cbn; ring|]. exact (is_derive_const (K := R_AbsRing) (V := R_NormedModule) 0 x).
  - cbn [anti fold_right]. match goal with |- is_derive (ev (add ?a ?b)) _ _ => apply (is_derive_ext (fun x => plus (ev a x) (ev b x))); [intros; symmetry; apply add_ok|] end.
    apply is_derive_val with (plus (eps * ev1 (T c k q n l) x) (eps * ev r x)); [unfold plus; cbn [ev]; cbn -[ev1]; ring|].
    apply (is_derive_plus (K := R_AbsRing) (V := R_NormedModule)); [|exact IH].
    cbn [anti1]. destruct (Qeq_bool l 0) eqn:L; [|apply anti_exp_ok, L].
    apply Qeq_bool_eq, Qeq_eqR in L. rewrite RMicromega.Q2R_0 in L.
    apply (is_derive_ext (ev1 (T (Qred (c / inject_Z (Z.of_nat (S n)))) k q (S n) 0))); [intros; cbn [ev]; symmetry; apply Rplus_0_r|].
    eapply is_derive_val; [|apply is_derive_ev1]. cbn [ev1 pred]. rewrite red, Q2R_div, inject_nat, RMicromega.Q2R_0, L.
    + field. apply not_0_INR. lia.
    + unfold Qeq. cbn. lia.
Qed.
Lemma derivable s x : ex_derive (ev s) x.
Proof.
  induction s as [|[c k q n l] r IH]; [apply ex_derive_const|].
  apply (ex_derive_plus (K := R_AbsRing) (V := R_NormedModule)); [eexists; apply is_derive_ev1|exact IH].
Qed.
Lemma continuous_ev s x : continuous (ev s) x.
Proof. apply (ex_derive_continuous (K := R_AbsRing) (V := R_NormedModule)), derivable. Qed.

(* === limits === *)
Lemma to_m k : 0 < k -> filterlim (fun x => k * x) (Rbar_locally m_infty) (Rbar_locally m_infty).
Proof.
  intros K. change (is_lim (fun x => k * x) m_infty m_infty). replace m_infty with (Rbar_mult k m_infty) at 2.
  - apply is_lim_scal_l, is_lim_id.
  - unfold Rbar_mult, Rbar_mult'. destruct (Rle_dec 0 k); [|lra]. destruct (Rle_lt_or_eq_dec 0 k r); [reflexivity|lra].
Qed.
Lemma product_to_0 F {FF : Filter F} (f g : R -> R) : filterlim f F (locally 0) -> filterlim g F (locally 0) -> filterlim (fun x => f x * g x) F (locally 0).
Proof.
  intros A B. replace (locally 0) with (locally (mult 0 0 : R)) by (f_equal; unfold mult; cbn; ring).
  eapply filterlim_comp_2; [exact A|exact B|apply (filterlim_mult (K := R_AbsRing) 0 0)].
Qed.
Lemma sum_to F {FF : Filter F} (f g : R -> R) a b : filterlim f F (locally a) -> filterlim g F (locally b) -> filterlim (fun x => f x + g x) F (locally (a + b)).
Proof. intros A B. eapply filterlim_comp_2; [exact A|exact B|apply (filterlim_plus (K := R_AbsRing) (V := R_NormedModule) a b)]. Qed.
Lemma times_to F {FF : Filter F} (c : R) (f : R -> R) : filterlim f F (locally 0) -> filterlim (fun x => c * f x) F (locally 0).
Proof.
  intros A. replace (locally 0) with (locally (scal c 0 : R)) by (f_equal; unfold scal; cbn; unfold mult; cbn; ring).
  eapply filterlim_comp; [exact A|]. apply (filterlim_scal_r (V := R_NormedModule) c (0:R)).
Qed.
Lemma power_exp_m n k : 0 < k -> filterlim (fun x => x ^ n * exp (k * x)) (Rbar_locally m_infty) (locally 0).
Proof.
  revert k. induction n as [|n IH]; intros k K.
  - apply (filterlim_ext (fun x => exp (k * x))); [intros; cbn; ring|].
    eapply filterlim_comp; [apply to_m, K|exact is_lim_exp_m].
  - apply (filterlim_ext (fun x => (/ (k / 2) * ((k / 2 * x) * exp (k / 2 * x))) * (x ^ n * exp (k / 2 * x)))).
    + intros x. cbn [pow]. replace (k * x) with (k / 2 * x + k / 2 * x) by field. rewrite exp_plus. field. lra.
    + apply product_to_0; [exact _| |apply IH; lra]. apply times_to; [exact _|].
      apply (filterlim_comp _ _ _ (fun x => k / 2 * x) (fun y => y * exp y) _ (Rbar_locally m_infty)); [apply to_m; lra|exact is_lim_mul_exp_m].
Qed.
Lemma power_exp_p n k : 0 < k -> filterlim (fun x => x ^ n * exp (- k * x)) (Rbar_locally p_infty) (locally 0).
Proof.
  intros K. apply (filterlim_ext (fun x => (-1) ^ n * ((- x) ^ n * exp (k * - x)))).
  - intros x. replace (- x) with (-1 * x) at 1 by ring. rewrite Rpow_mult_distr, <- !Rmult_assoc, <- Rpow_mult_distr.
    replace (-1 * -1) with 1 by ring. rewrite pow1, Rmult_1_l. f_equal. f_equal. ring.
  - apply times_to; [exact _|]. apply (filterlim_comp _ _ _ Ropp (fun x => x ^ n * exp (k * x)) _ (Rbar_locally m_infty)); [|apply power_exp_m, K].
    apply (is_lim_opp (fun x => x) p_infty p_infty), is_lim_id.
Qed.
Definition rises (s : sum) := forallb (fun t => match t with T _ _ _ _ l => negb (Qle_bool l 0) end) s.
Definition falls (s : sum) := forallb (fun t => match t with T _ _ _ _ l => negb (Qle_bool 0 l) end) s.
Lemma not_le a b : negb (Qle_bool a b) = true -> Q2R b < Q2R a.
Proof.
  intros H. apply Qlt_Rlt. destruct (Qlt_le_dec b a) as [|N]; [assumption|]. apply Qle_bool_iff in N. rewrite N in H. discriminate.
Qed.
Lemma zero_at F {FF : Filter F} : filterlim (fun _ : R => 0) F (locally 0).
Proof. apply filterlim_const. Qed.
Lemma rises_ok s : rises s = true -> filterlim (ev s) (Rbar_locally m_infty) (locally 0).
Proof.
  induction s as [|[c k q n l] r IH]; [intros; apply (filterlim_ext (fun _ => 0)); [reflexivity|apply zero_at; exact _]|].
  cbn [rises forallb]. intros H. apply andb_prop in H. destruct H as [L H]. apply not_le in L. rewrite RMicromega.Q2R_0 in L.
  replace (locally 0) with (locally (0 + 0)) by (f_equal; ring). apply (sum_to _ (ev1 (T c k q n l)) (ev r)); [|apply IH, H].
  apply (filterlim_ext (fun x => (Q2R c * eps ^ k * eps ^ n * exp (eps * Q2R q)) * (x ^ n * exp (eps * Q2R l * x)))).
  - intros x. cbn [ev1]. rewrite Rpow_mult_distr. replace (eps * (Q2R q + Q2R l * x)) with (eps * Q2R q + eps * Q2R l * x) by ring. rewrite exp_plus. ring.
  - apply times_to; [exact _|]. apply power_exp_m. apply Rmult_lt_0_compat; assumption.
Qed.
Lemma falls_ok s : falls s = true -> filterlim (ev s) (Rbar_locally p_infty) (locally 0).
Proof.
  induction s as [|[c k q n l] r IH]; [intros; apply (filterlim_ext (fun _ => 0)); [reflexivity|apply zero_at; exact _]|].
  cbn [falls forallb]. intros H. apply andb_prop in H. destruct H as [L H]. apply not_le in L. rewrite RMicromega.Q2R_0 in L.
  replace (locally 0) with (locally (0 + 0)) by (f_equal; ring). apply (sum_to _ (ev1 (T c k q n l)) (ev r)); [|apply IH, H].
  apply (filterlim_ext (fun x => (Q2R c * eps ^ k * eps ^ n * exp (eps * Q2R q)) * (x ^ n * exp (- (eps * - Q2R l) * x)))).
  - intros x. cbn [ev1]. rewrite Rpow_mult_distr. replace (eps * (Q2R q + Q2R l * x)) with (eps * Q2R q + - (eps * - Q2R l) * x) by ring. rewrite exp_plus. ring.
  - apply times_to; [exact _|]. apply power_exp_p. apply Rmult_lt_0_compat; lra.
Qed.

(* === integrals of one sum === *)
Lemma cell (g h G : R -> R) Fa Fb (la lb : R) {FFa : ProperFilter' Fa} {FFb : ProperFilter' Fb} :
  (forall x, is_derive G x (g x)) -> (forall x, continuous g x) ->
  filterlim G Fa (locally la) -> filterlim G Fb (locally lb) ->
  filter_prod Fa Fb (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> g x = h x) ->
  is_RInt_gen h Fa Fb (lb - la).
Proof.
  intros D C A B X. apply is_RInt_gen_ext with (f := g); [exact X|].
  assert (DE : forall x, Derive G x = g x) by (intros x; apply is_derive_unique, D).
  apply is_RInt_gen_ext with (f := Derive G).
  - apply filter_forall. intros ab x _. apply DE.
  - apply is_RInt_gen_Derive; [| |exact A|exact B]; apply filter_forall; intros ab x _.
    + eexists; apply D.
    + apply continuous_ext with g; [intros y; symmetry; apply DE|apply C].
Qed.
Lemma join (f : R -> R) Fa Fc {FFa : Filter Fa} {FFc : Filter Fc} b (l1 l2 : R) :
  is_RInt_gen f Fa (at_point b) l1 -> is_RInt_gen f (at_point b) Fc l2 -> is_RInt_gen f Fa Fc (l1 + l2).
Proof. intros A B. exact (is_RInt_gen_Chasles (V := R_NormedModule) f b l1 l2 A B). Qed.
Lemma at_pt (G : R -> R) c : filterlim G (at_point c) (locally (G c)).
Proof. intros P H. exact (locally_singleton (G c) P H). Qed.
Lemma in_left (P : R -> Prop) c : (forall x, x < c -> P x) -> filter_prod (Rbar_locally m_infty) (at_point c) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros H. exists (fun x => x < c) (fun x => x = c); [exists c; auto|reflexivity|]. intros a b A -> x. cbn. rewrite Rmin_left, Rmax_right by lra. intros. apply H; lra. Qed.
Lemma in_right (P : R -> Prop) c : (forall x, c < x -> P x) -> filter_prod (at_point c) (Rbar_locally p_infty) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros H. exists (fun x => x = c) (fun x => c < x); [reflexivity|exists c; auto|]. intros a b -> A x. cbn. rewrite Rmin_left, Rmax_right by lra. intros. apply H; lra. Qed.
Lemma in_mid (P : R -> Prop) a b : a <= b -> (forall x, a < x < b -> P x) -> filter_prod (at_point a) (at_point b) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros L H. exists (fun x => x = a) (fun x => x = b); [reflexivity|reflexivity|]. intros u v -> -> x. cbn. rewrite Rmin_left, Rmax_right by lra. apply H. Qed.
Lemma continuous_integrand s x : continuous (fun x => eps * ev s x) x.
Proof. apply (ex_derive_continuous (K := R_AbsRing) (V := R_NormedModule)). apply (ex_derive_scal (ev s) eps x), derivable. Qed.
Lemma from_m s h z : rises (anti s) = true -> (forall x, x < z -> eps * ev s x = h x) -> is_RInt_gen h (Rbar_locally m_infty) (at_point z) (ev (anti s) z).
Proof.
  intros L X. replace (ev (anti s) z) with (ev (anti s) z - 0) by ring.
  apply (cell (fun x => eps * ev s x) h (ev (anti s))); [exact _|exact _|apply anti_ok|apply continuous_integrand|apply rises_ok, L|apply at_pt|apply in_left, X].
Qed.
Lemma to_p s h z : falls (anti s) = true -> (forall x, z < x -> eps * ev s x = h x) -> is_RInt_gen h (at_point z) (Rbar_locally p_infty) (- ev (anti s) z).
Proof.
  intros L X. replace (- ev (anti s) z) with (0 - ev (anti s) z) by ring.
  apply (cell (fun x => eps * ev s x) h (ev (anti s))); [exact _|exact _|apply anti_ok|apply continuous_integrand|apply at_pt|apply falls_ok, L|apply in_right, X].
Qed.
Lemma between s h a b : a <= b -> (forall x, a < x < b -> eps * ev s x = h x) -> is_RInt_gen h (at_point a) (at_point b) (ev (anti s) b - ev (anti s) a).
Proof.
  intros L X. apply (cell (fun x => eps * ev s x) h (ev (anti s))); [exact _|exact _|apply anti_ok|apply continuous_integrand|apply at_pt|apply at_pt|apply in_mid; [exact L|exact X]].
Qed.

(* === functions made of sums: the first up to and with the first end, and so on === *)
Definition pieces := (sum * list (Q * sum))%type.
Fixpoint evr (first : sum) (rest : list (Q * sum)) (x : R) : R :=
  match rest with nil => ev first x | (b, s) :: r => if Rle_dec x (Q2R b) then ev first x else evr s r x end.
Definition evp (f : pieces) (x : R) := evr (fst f) (snd f) x.
Definition everywhere (s : sum) : pieces := (s, nil).

Fixpoint mulr (f : sum) (r : list (Q * sum)) : sum -> list (Q * sum) -> pieces :=
  fix go (f' : sum) (r' : list (Q * sum)) : pieces :=
  match r, r' with
  | nil, _ => (mul f f', map (fun bs => (fst bs, mul f (snd bs))) r')
  | _, nil => (mul f f', map (fun bs => (fst bs, mul (snd bs) f')) r)
  | (b, s) :: t, (b', s') :: t' =>
      let m := mul f f' in
      match Qcompare b b' with
      | Lt => let g := mulr s t f' r' in (m, (b, fst g) :: snd g)
      | Gt => let g := go s' t' in (m, (b', fst g) :: snd g)
      | Eq => let g := mulr s t s' t' in (m, (b, fst g) :: snd g)
      end
  end.
Definition mulp (f g : pieces) : pieces := mulr (fst f) (snd f) (fst g) (snd g).
Lemma map_left f r g x : evr (mul f g) (map (fun bs => (fst bs, mul f (snd bs))) r) x = ev f x * evr g r x.
Proof. revert g. induction r as [|[b s] t IH]; intros g; cbn [map evr fst snd]; [apply mul_ok|]. rewrite IH. destruct (Rle_dec x (Q2R b)); [apply mul_ok|reflexivity]. Qed.
Lemma map_right f r g x : evr (mul g f) (map (fun bs => (fst bs, mul (snd bs) f)) r) x = evr g r x * ev f x.
Proof. revert g. induction r as [|[b s] t IH]; intros g; cbn [map evr fst snd]; [apply mul_ok|]. rewrite IH. destruct (Rle_dec x (Q2R b)); [apply mul_ok|reflexivity]. Qed.
Lemma mulr_ok f r g u x : evp (mulr f r g u) x = evr f r x * evr g u x.
Proof.
  unfold evp. revert f g u. induction r as [|[b s] t IH]; intros f g u.
  - destruct u as [|bs u]; cbn [mulr fst snd]; rewrite map_left; reflexivity.
  - revert g. induction u as [|[b' s'] u IH']; intros g.
    + change (mulr f ((b, s) :: t) g nil) with (mul f g, map (fun bs => (fst bs, mul (snd bs) g)) ((b, s) :: t)). cbn [fst snd]. rewrite map_right. reflexivity.
    + cbn [mulr]. cbv zeta. destruct (Qcompare_spec b b') as [C|C|C]; cbn [fst snd evr].
      * apply Qeq_eqR in C. rewrite IH, C. destruct (Rle_dec x (Q2R b')); [apply mul_ok|reflexivity].
      * apply Qlt_Rlt in C. rewrite IH. cbn [evr].
        destruct (Rle_dec x (Q2R b)), (Rle_dec x (Q2R b')); try lra; rewrite ?mul_ok; reflexivity.
      * apply Qlt_Rlt in C. specialize (IH' s'). cbn [evr] in IH'. 
        match goal with |- context [evr (fst ?g) (snd ?g)] => change g with (mulr f ((b, s) :: t) s' u) end. rewrite IH'.
        destruct (Rle_dec x (Q2R b)), (Rle_dec x (Q2R b')); try lra; rewrite ?mul_ok; reflexivity.
Qed.
Lemma mulp_ok f g x : evp (mulp f g) x = evp f x * evp g x.
Proof. apply mulr_ok. Qed.
Definition scalep (s : sum) (f : pieces) : pieces := (mul s (fst f), map (fun bs => (fst bs, mul s (snd bs))) (snd f)).
Lemma scalep_ok s f x : evp (scalep s f) x = ev s x * evp f x.
Proof. unfold scalep, evp. cbn [fst snd]. apply map_left. Qed.

Definition shiftp (s : Q) (f : pieces) : pieces := (shift s (fst f), map (fun bs => (Qred (fst bs - s), shift s (snd bs))) (snd f)).
Lemma shiftp_ok s f x : evp (shiftp s f) x = evp f (x + Q2R s).
Proof.
  destruct f as [f r]. unfold evp, shiftp. cbn [fst snd]. revert f. induction r as [|[b t] r IH]; intros f; cbn [map evr fst snd]; [apply shift_ok|].
  rewrite IH, red, Q2R_minus. destruct (Rle_dec x (Q2R b - Q2R s)), (Rle_dec (x + Q2R s) (Q2R b)); try lra; rewrite ?shift_ok; reflexivity.
Qed.

(* The value at the rational x = b, a sum that does not depend on x. *)
Fixpoint atr (b : Q) (first : sum) (rest : list (Q * sum)) : sum :=
  match rest with nil => at_ b first | (c, s) :: r => if Qle_bool b c then at_ b first else atr b s r end.
Lemma atr_ok b f r x : ev (atr b f r) x = evr f r (Q2R b).
Proof.
  revert f. induction r as [|[c s] r IH]; intros f; cbn [atr evr]; [apply at_ok|].
  destruct (Qle_bool b c) eqn:L; destruct (Rle_dec (Q2R b) (Q2R c)) as [M|M]; try apply at_ok; try apply IH.
  - apply Qle_bool_iff, Qle_Rle in L. contradiction.
  - apply Rle_Qle, Qle_bool_iff in M. congruence.
Qed.

(* === integrals up to a bound, and from a bound on === *)
(* Rising ends. *)
Fixpoint sorted (a : Q) (r : list (Q * sum)) : bool := match r with nil => true | (b, _) :: t => (Qle_bool a b && sorted b t)%bool end.

(* The integral up to z, where it is `sofar` until the first end of `rest`. *)
Fixpoint upto (sofar : sum) (rest : list (Q * sum)) : list (Q * sum) :=
  match rest with nil => nil | (b, s) :: r => let g := add (anti s) (add (at_ b sofar) (opp (at_ b (anti s)))) in (b, g) :: upto g r end.
Definition below (f : pieces) : option pieces :=
  let '(first, rest) := f in
  if (rises (anti first) && match rest with nil => true | (b, _) :: t => sorted b t end)%bool then Some (anti first, upto (anti first) rest) else None.
Lemma upto_ok h a : forall rest first sofar,
  sorted a rest = true ->
  (forall x, Q2R a < x -> eps * evr first rest x = h x) ->
  (forall z, Q2R a <= z -> match rest with nil => True | (b, _) :: _ => z <= Q2R b end -> is_RInt_gen h (Rbar_locally m_infty) (at_point z) (ev sofar z)) ->
  forall z, Q2R a <= z -> is_RInt_gen h (Rbar_locally m_infty) (at_point z) (evr sofar (upto sofar rest) z).
Proof.
  intros rest. revert a. induction rest as [|[b s] r IH]; intros a first sofar S H A z Z; cbn [upto evr]; [apply A; auto|].
  cbn [sorted] in S. apply andb_prop in S. destruct S as [AB S]. apply Qle_bool_iff, Qle_Rle in AB.
  cbv zeta. cbn [evr]. destruct (Rle_dec z (Q2R b)) as [B|B]; [apply A; assumption|].
  apply (IH b s); [exact S| | |lra].
  - intros x X. rewrite <- H by lra. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|reflexivity].
  - intros w W W'. rewrite !add_ok, opp_ok, !at_ok.
    replace (ev (anti s) w + (ev sofar (Q2R b) + - ev (anti s) (Q2R b))) with (ev sofar (Q2R b) + (ev (anti s) w - ev (anti s) (Q2R b))) by ring.
    apply join with (Q2R b); try exact _; [apply A; lra|]. apply between; [exact W|].
    intros x X. rewrite <- H by lra. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|]. destruct r as [|[b' s'] r]; [reflexivity|]. cbn [evr].
    destruct (Rle_dec x (Q2R b')); [reflexivity|lra].
Qed.
Lemma below_ok f g z : below f = Some g -> is_RInt_gen (fun x => eps * evp f x) (Rbar_locally m_infty) (at_point z) (evp g z).
Proof.
  destruct f as [first rest]. unfold below. destruct (rises (anti first)) eqn:L; [|discriminate].
  destruct rest as [|[b s] r]; cbn [andb].
  - intros [= <-]. unfold evp. cbn [fst snd upto evr]. apply from_m; [exact L|reflexivity].
  - destruct (sorted b r) eqn:S; [|discriminate]. intros [= <-]. unfold evp. cbn [fst snd upto evr]. cbv zeta. cbn [evr].
    assert (A : forall z, z <= Q2R b -> is_RInt_gen (fun x => eps * evr first ((b, s) :: r) x) (Rbar_locally m_infty) (at_point z) (ev (anti first) z)).
    { intros w W. apply from_m; [exact L|]. intros x X. cbn [evr]. destruct (Rle_dec x (Q2R b)); [reflexivity|lra]. }
    destruct (Rle_dec z (Q2R b)) as [B|B]; [apply A, B|].
    apply (upto_ok _ b r s); [exact S| | |lra].
    + intros x X. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|reflexivity].
    + intros w W W'. rewrite !add_ok, opp_ok, !at_ok.
      replace (ev (anti s) w + (ev (anti first) (Q2R b) + - ev (anti s) (Q2R b))) with (ev (anti first) (Q2R b) + (ev (anti s) w - ev (anti s) (Q2R b))) by ring.
      apply join with (Q2R b); try exact _; [apply A; lra|]. apply between; [exact W|].
      intros x X. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|]. destruct r as [|[b' s'] r]; [reflexivity|]. cbn [evr].
      destruct (Rle_dec x (Q2R b')); [reflexivity|lra].
Qed.

(* The integral from z on. *)
Fixpoint beyond (first : sum) (rest : list (Q * sum)) : option pieces :=
  match rest with
  | nil => if falls (anti first) then Some (opp (anti first), nil) else None
  | (b, s) :: r =>
      match beyond s r with
      | None => None
      | Some (s', r') => Some (add (opp (anti first)) (add (at_ b (anti first)) (at_ b s')), (b, s') :: r')
      end
  end.
Definition above (f : pieces) : option pieces :=
  let '(first, rest) := f in if match rest with nil => true | (b, _) :: t => sorted b t end then beyond first rest else None.
Lemma beyond_ends first rest g : beyond first rest = Some g -> map fst (snd g) = map fst rest.
Proof.
  revert first g. induction rest as [|[b s] r IH]; intros first g; cbn [beyond].
  - destruct (falls (anti first)); [|discriminate]. intros [= <-]. reflexivity.
  - destruct (beyond s r) as [[s' r']|] eqn:B; [|discriminate]. intros [= <-]. cbn. f_equal. exact (IH _ _ B).
Qed.
Lemma beyond_ok : forall rest first g h (low : Q -> Prop),
  match rest with nil => True | (b, _) :: t => sorted b t = true end ->
  beyond first rest = Some g ->
  forall z, (forall x, z < x -> eps * evr first rest x = h x) -> is_RInt_gen h (at_point z) (Rbar_locally p_infty) (evr (fst g) (snd g) z).
Proof.
  induction rest as [|[b s] r IH]; intros first g h low S; cbn [beyond].
  - destruct (falls (anti first)) eqn:L; [|discriminate]. intros [= <-] z H. cbn [fst snd evr]. rewrite opp_ok. apply to_p; [exact L|exact H].
  - destruct (beyond s r) as [[s' r']|] eqn:B; [|discriminate]. intros [= <-] z H. cbn [fst snd evr].
    assert (S' : match r with nil => True | (b, _) :: t => sorted b t = true end).
    { destruct r as [|[c t] r]; [exact I|]. cbn [sorted] in S. apply andb_prop in S. exact (proj2 S). }
    destruct (Rle_dec z (Q2R b)) as [Z|Z].
    + rewrite !add_ok, opp_ok, !at_ok.
      replace (- ev (anti first) z + (ev (anti first) (Q2R b) + ev s' (Q2R b))) with ((ev (anti first) (Q2R b) - ev (anti first) z) + ev s' (Q2R b)) by ring.
      apply join with (Q2R b); try exact _.
      * apply between; [exact Z|]. intros x X. rewrite <- H by lra. cbn [evr]. destruct (Rle_dec x (Q2R b)); [reflexivity|lra].
      * assert (V : evr s' r' (Q2R b) = ev s' (Q2R b)).
        { pose proof (beyond_ends _ _ _ B) as N. cbn [snd] in N. destruct r' as [|[c' t'] r']; [reflexivity|]. destruct r as [|[c t] r]; [discriminate|].
          cbn [map fst] in N. injection N as <- _. cbn [sorted] in S. apply andb_prop in S. destruct S as [S _]. apply Qle_bool_iff, Qle_Rle in S.
          cbn [evr]. destruct (Rle_dec (Q2R b) (Q2R c')); [reflexivity|contradiction]. }
        rewrite <- V. apply (IH s (s', r') h low S' B). intros x X. rewrite <- H by lra. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|reflexivity].
    + apply (IH s (s', r') h low S' B). intros x X. rewrite <- H by lra. cbn [evr]. destruct (Rle_dec x (Q2R b)); [lra|reflexivity].
Qed.
Lemma above_ok f g z : above f = Some g -> is_RInt_gen (fun x => eps * evp f x) (at_point z) (Rbar_locally p_infty) (evp g z).
Proof.
  destruct f as [first rest]. unfold above. destruct rest as [|[b s] r].
  - intros B. apply (beyond_ok nil first g _ (fun _ => True) I B z). reflexivity.
  - destruct (sorted b r) eqn:S; [|discriminate]. intros B. apply (beyond_ok ((b, s) :: r) first g _ (fun _ => True) S B z). reflexivity.
Qed.
(* The integral over all reals. *)
Definition whole (f : pieces) : option sum :=
  match below f, above f with Some g, Some g' => Some (add (atr 0 (fst g) (snd g)) (atr 0 (fst g') (snd g'))) | _, _ => None end.
Lemma whole_ok f s x : whole f = Some s -> is_RInt_gen (fun x => eps * evp f x) (Rbar_locally m_infty) (Rbar_locally p_infty) (ev s x).
Proof.
  unfold whole. destruct (below f) as [g|] eqn:B; [|discriminate]. destruct (above f) as [g'|] eqn:A; [|discriminate]. intros [= <-].
  rewrite add_ok, !atr_ok. apply join with (Q2R 0); try exact _; [apply below_ok, B|apply above_ok, A].
Qed.

(* === the densities of noises, divided by eps === *)
Inductive law := Lap | Expo.
Definition density (noise : law) (r x : R) : R :=
  match noise with Lap => r / 2 * exp (-(r * Rabs x)) | Expo => if Rle_dec x 0 then 0 else r * exp (-(r * x)) end.
Definition density_pieces (noise : law) (rate mean : Q) : pieces :=
  match noise with
  | Lap => ([T (Qred (rate / 2)) 0 (Qred (- (rate * mean))) 0 rate], [(mean, [T (Qred (rate / 2)) 0 (Qred (rate * mean)) 0 (Qopp rate)])])
  | Expo => (nil, [(mean, [T rate 0 (Qred (rate * mean)) 0 (Qopp rate)])])
  end.
Lemma density_ok noise rate mean x : density noise (Q2R rate * eps) (x - Q2R mean) = eps * evp (density_pieces noise rate mean) x.
Proof.
  destruct noise; unfold density, density_pieces, evp; cbn [fst snd evr ev ev1 pow]; rewrite !red, ?Q2R_div, ?Q2R_opp, !Q2R_mult by discriminate.
  - replace (Q2R 2) with 2 by (unfold Q2R; cbn; lra). destruct (Rle_dec x (Q2R mean)).
    + rewrite Rabs_left1 by lra. replace (- (Q2R rate * eps * - (x - Q2R mean))) with (eps * (- (Q2R rate * Q2R mean) + Q2R rate * x)) by ring. field.
    + rewrite Rabs_pos_eq by lra. replace (- (Q2R rate * eps * (x - Q2R mean))) with (eps * (Q2R rate * Q2R mean + - Q2R rate * x)) by ring. field.
  - destruct (Rle_dec x (Q2R mean)), (Rle_dec (x - Q2R mean) 0); try lra.
    replace (- (Q2R rate * eps * (x - Q2R mean))) with (eps * (Q2R rate * Q2R mean + - Q2R rate * x)) by ring. ring.
Qed.
End Sums.

(* === products of functions of one variable each, where variables keep an order; variables are counted from the last one === *)
Definition bound := (option nat * Q)%type.  (* a variable, or 0, plus a number *)
Record constraint := Order { strict : bool; lesser : bound; greater : bound }.
Record product := Product { weight : sum; factors : list pieces; orders : list constraint }.
Definition value (b : bound) (env : list R) := match fst b with Some j => nth j env 0 | None => 0 end + Q2R (snd b).
Definition holds (c : constraint) (env : list R) : R :=
  if strict c then (if Rlt_dec (value (lesser c) env) (value (greater c) env) then 1 else 0)
  else (if Rle_dec (value (lesser c) env) (value (greater c) env) then 1 else 0).
Definition le a b := Order false a b.
Definition lt a b := Order true a b.
Definition negation (c : constraint) := Order (negb (strict c)) (greater c) (lesser c).
Lemma negation_ok c env : holds (negation c) env = 1 - holds c env.
Proof. destruct c as [[] a b]; unfold holds, negation; cbn; destruct (Rle_dec _ _), (Rlt_dec _ _); lra. Qed.
Fixpoint all (cs : list constraint) env := match cs with nil => 1 | c :: r => holds c env * all r env end.
Lemma all_app a b env : all (a ++ b) env = all a env * all b env.
Proof. induction a as [|c r IH]; cbn [app all]; [ring|]. rewrite IH. ring. Qed.

Section Products.
Variable eps : R.
Hypothesis E : 0 < eps.
Fixpoint evf (fs : list pieces) (env : list R) : R := match fs with nil => 1 | f :: r => evp eps f (nth 0 env 0) * evf r (tl env) end.
Definition ev_product (p : product) (env : list R) := ev eps (weight p) 0 * evf (factors p) env * all (orders p) env.
Fixpoint evs (ps : list product) (env : list R) : R := match ps with nil => 0 | p :: r => ev_product p env + evs r env end.
Lemma evs_app a b env : evs (a ++ b) env = evs a env + evs b env.
Proof. induction a as [|p r IH]; cbn [app evs]; [ring|]. rewrite IH. ring. Qed.

Definition one : pieces := everywhere (number 1).
Lemma one_ok x : evp eps one x = 1.
Proof. unfold one, evp, everywhere. cbn [fst snd evr]. rewrite number_ok. apply RMicromega.Q2R_1. Qed.
Fixpoint put (i : nat) (f : pieces) (fs : list pieces) : list pieces :=
  match i, fs with
  | O, nil => [f] | O, g :: r => mulp f g :: r
  | S i, nil => one :: put i f nil | S i, g :: r => g :: put i f r
  end.
Lemma nth_tl i (env : list R) : nth i (tl env) 0 = nth (S i) env 0.
Proof. destruct env; [destruct i|]; reflexivity. Qed.
Lemma put_ok i f fs env : evf (put i f fs) env = evp eps f (nth i env 0) * evf fs env.
Proof.
  revert fs env. induction i as [|i IH]; intros fs env; destruct fs as [|g r]; cbn [put evf].
  - reflexivity.
  - rewrite mulp_ok. ring.
  - rewrite IH, one_ok, nth_tl. cbn [evf]. ring.
  - rewrite IH, nth_tl. ring.
Qed.

(* A product with one more constraint, or none where the constraint fails for certain. *)
Definition same_variable (a b : bound) := match fst a, fst b with Some i, Some j => Nat.eqb i j | None, None => true | _, _ => false end.
Definition certain (c : constraint) : option bool :=
  if same_variable (lesser c) (greater c) then
    Some (if strict c then negb (Qle_bool (snd (greater c)) (snd (lesser c))) else Qle_bool (snd (lesser c)) (snd (greater c)))
  else None.
Lemma certain_ok c d env : certain c = Some d -> holds c env = if d then 1 else 0.
Proof.
  destruct c as [s [i a] [j b]]. unfold certain, same_variable, holds, value. cbn [lesser greater strict fst snd].
  intros H. assert (V : match i with Some j => nth j env 0 | None => 0 end = match j with Some j => nth j env 0 | None => 0 end).
  { destruct i as [i|], j as [j|]; try discriminate; [|reflexivity]. destruct (Nat.eqb_spec i j); [subst; reflexivity|discriminate]. }
  rewrite V. destruct i as [i|], j as [j|]; try discriminate H; try (destruct (Nat.eqb i j); [|discriminate H]); destruct s; injection H as <-.
  all: destruct (Qle_bool _ _) eqn:Q; cbn [negb].
  all: try (apply Qle_bool_iff, Qle_Rle in Q).
  all: try (assert (Q' : ~ (b <= a)%Q) by (intros N; apply Qle_bool_iff in N; congruence); apply Qnot_le_lt, Qlt_Rlt in Q').
  all: try (assert (Q' : ~ (a <= b)%Q) by (intros N; apply Qle_bool_iff in N; congruence); apply Qnot_le_lt, Qlt_Rlt in Q').
  all: try destruct (Rlt_dec _ _); try destruct (Rle_dec _ _); lra.
Qed.
Definition constrain (c : constraint) (p : product) : list product :=
  match certain c with Some true => [p] | Some false => nil | None => [Product (weight p) (factors p) (c :: orders p)] end.
Lemma constrain_ok c p env : evs (constrain c p) env = holds c env * ev_product p env.
Proof.
  unfold constrain. destruct (certain c) as [[]|] eqn:C; cbn [evs].
  - rewrite (certain_ok _ _ env C). ring.
  - rewrite (certain_ok _ _ env C). ring.
  - unfold ev_product. cbn [weight factors orders all]. ring.
Qed.
Definition constrain_all (c : constraint) (ps : list product) := flat_map (constrain c) ps.
Lemma constrain_all_ok c ps env : evs (constrain_all c ps) env = holds c env * evs ps env.
Proof. induction ps as [|p r IH]; cbn [constrain_all flat_map evs]; [ring|]. rewrite evs_app, constrain_ok. unfold constrain_all in IH. rewrite IH. ring. Qed.
Definition constrained (cs : list constraint) (ps : list product) := fold_right constrain_all ps cs.
Lemma constrained_ok cs ps env : evs (constrained cs ps) env = all cs env * evs ps env.
Proof. induction cs as [|c r IH]; cbn [constrained fold_right all]; [ring|]. rewrite constrain_all_ok. unfold constrained in IH. rewrite IH. ring. Qed.

(* A product times a function at a bound. *)
Definition times_at (f : pieces) (b : bound) (p : product) : product :=
  match fst b with
  | Some j => Product (weight p) (put j (shiftp (snd b) f) (factors p)) (orders p)
  | None => Product (mul (weight p) (atr (snd b) (fst f) (snd f))) (factors p) (orders p)
  end.
Lemma times_at_ok f b p env : ev_product (times_at f b p) env = evp eps f (value b env) * ev_product p env.
Proof.
  destruct b as [[j|] c]; unfold times_at, ev_product, value; cbn [fst snd weight factors orders].
  - rewrite put_ok, shiftp_ok. ring.
  - rewrite mul_ok, atr_ok. unfold evp. rewrite Rplus_0_l. ring.
Qed.

(* === the least and the greatest of some bounds: cases that exclude each other === *)
Fixpoint least (b : bound) (r : list bound) : list (bound * list constraint) :=
  match r with nil => [(b, nil)] | b' :: r' => flat_map (fun vc => [(b, le b (fst vc) :: snd vc); (fst vc, lt (fst vc) b :: snd vc)]) (least b' r') end.
Fixpoint greatest (b : bound) (r : list bound) : list (bound * list constraint) :=
  match r with nil => [(b, nil)] | b' :: r' => flat_map (fun vc => [(b, le (fst vc) b :: snd vc); (fst vc, lt b (fst vc) :: snd vc)]) (greatest b' r') end.
Fixpoint least_value b r env := match r with nil => value b env | b' :: r' => Rmin (value b env) (least_value b' r' env) end.
Fixpoint greatest_value b r env := match r with nil => value b env | b' :: r' => Rmax (value b env) (greatest_value b' r' env) end.
Fixpoint over (phi : R -> R) (cases : list (bound * list constraint)) env :=
  match cases with nil => 0 | vc :: r => all (snd vc) env * phi (value (fst vc) env) + over phi r env end.
Lemma over_app phi a b env : over phi (a ++ b) env = over phi a env + over phi b env.
Proof. induction a as [|c r IH]; cbn [app over]; [ring|]. rewrite IH. ring. Qed.
Lemma least_ok b r env phi : over phi (least b r) env = phi (least_value b r env).
Proof.
  revert b phi. induction r as [|b' r IH]; intros b phi; cbn [least least_value over all fst snd]; [ring|].
  rewrite <- (IH b' (fun m => phi (Rmin (value b env) m))). generalize (least b' r). intros cases.
  induction cases as [|[v C] t IH']; cbn [flat_map over]; [reflexivity|]. rewrite over_app, IH'. cbn [over all fst snd]. f_equal.
  unfold holds, le, lt, Rmin. cbn [strict lesser greater]. destruct (Rle_dec (value b env) (value v env)), (Rlt_dec (value v env) (value b env)); try lra; ring.
Qed.
Lemma greatest_ok b r env phi : over phi (greatest b r) env = phi (greatest_value b r env).
Proof.
  revert b phi. induction r as [|b' r IH]; intros b phi; cbn [greatest greatest_value over all fst snd]; [ring|].
  rewrite <- (IH b' (fun m => phi (Rmax (value b env) m))). generalize (greatest b' r). intros cases.
  induction cases as [|[v C] t IH']; cbn [flat_map over]; [reflexivity|]. rewrite over_app, IH'. cbn [over all fst snd]. f_equal.
  unfold holds, le, lt, Rmax. cbn [strict lesser greater].
  destruct (Rle_dec (value v env) (value b env)), (Rlt_dec (value b env) (value v env)), (Rle_dec (value b env) (value v env)); try lra; try ring.
  replace (value b env) with (value v env) by lra. ring.
Qed.
Definition below_all x b r env := x < least_value b r env.
Lemma least_lower b r env c : In c (b :: r) -> least_value b r env <= value c env.
Proof.
  revert b. induction r as [|b' r IH]; intros b; cbn [least_value].
  - intros [->|[]]. lra.
  - intros [->|I]; [apply Rmin_l|]. eapply Rle_trans; [apply Rmin_r|]. apply IH, I.
Qed.
Lemma least_one b r env : exists c, In c (b :: r) /\ least_value b r env = value c env.
Proof.
  revert b. induction r as [|b' r IH]; intros b; cbn [least_value]; [exists b; split; [left|]; reflexivity|].
  destruct (IH b') as [c [I V]]. unfold Rmin. destruct (Rle_dec _ _); [exists b; split; [left|]; reflexivity|]. exists c. split; [right; exact I|exact V].
Qed.
Lemma greatest_upper b r env c : In c (b :: r) -> value c env <= greatest_value b r env.
Proof.
  revert b. induction r as [|b' r IH]; intros b; cbn [greatest_value].
  - intros [->|[]]. lra.
  - intros [->|I]; [apply Rmax_l|]. eapply Rle_trans; [|apply Rmax_r]. apply IH, I.
Qed.
Lemma greatest_one b r env : exists c, In c (b :: r) /\ greatest_value b r env = value c env.
Proof.
  revert b. induction r as [|b' r IH]; intros b; cbn [greatest_value]; [exists b; split; [left|]; reflexivity|].
  destruct (IH b') as [c [I V]]. unfold Rmax. destruct (Rle_dec _ _); [|exists b; split; [left|]; reflexivity]. exists c. split; [right; exact I|exact V].
Qed.

(* === the constraints of the last variable, and those of the others === *)
Definition down (b : bound) : option bound := match fst b with Some O => None | Some (S j) => Some (Some j, snd b) | None => Some b end.
Definition up (b : bound) : bound := match fst b with Some j => (Some (S j), snd b) | None => b end.
Lemma up_ok b x env : value (up b) (x :: env) = value b env.
Proof. destruct b as [[j|] c]; reflexivity. Qed.
Lemma down_ok b b' x env : down b = Some b' -> value b (x :: env) = value b' env.
Proof. destruct b as [[[|j]|] c]; cbn; try discriminate; intros [= <-]; reflexivity. Qed.
Lemma down_last b x env : down b = None -> value b (x :: env) = x + Q2R (snd b).
Proof. destruct b as [[[|j]|] c]; cbn; try discriminate. reflexivity. Qed.
Definition minus (b : bound) (c : Q) : bound := (fst b, Qred (snd b - c)).
Lemma minus_ok b c env : value (minus b c) env = value b env - Q2R c.
Proof. unfold value, minus. cbn [fst snd]. rewrite red, Q2R_minus. ring. Qed.
Fixpoint split (cs : list constraint) : option (list bound * list bound * list constraint) :=
  match cs with
  | nil => Some (nil, nil, nil)
  | c :: r =>
      match split r with
      | None => None
      | Some (lows, ups, others) =>
          match down (lesser c), down (greater c) with
          | Some a, Some b => Some (lows, ups, Order (strict c) a b :: others)
          | Some a, None => Some (minus a (snd (greater c)) :: lows, ups, others)
          | None, Some b => Some (lows, minus b (snd (lesser c)) :: ups, others)
          | None, None => None
          end
      end
  end.
Lemma split_inside cs lows ups others x env : split cs = Some (lows, ups, others) ->
  (forall b, In b lows -> value b env < x) -> (forall b, In b ups -> x < value b env) -> all cs (x :: env) = all others env.
Proof.
  revert lows ups others. induction cs as [|c r IH]; intros lows ups others; cbn [split all]; [intros [= <- <- <-]; reflexivity|].
  destruct (split r) as [[[l u] o]|]; [|discriminate].
  destruct (down (lesser c)) as [a|] eqn:A; destruct (down (greater c)) as [b|] eqn:B; try discriminate; intros [= <- <- <-] L U; cbn [all];
    rewrite (IH l u o); auto using in_cons.
  - f_equal. unfold holds. cbn [strict lesser greater]. rewrite (down_ok _ _ _ _ A), (down_ok _ _ _ _ B). reflexivity.
  - specialize (L _ (or_introl eq_refl)). rewrite minus_ok in L. unfold holds. rewrite (down_ok _ _ _ _ A), (down_last _ _ _ B).
    destruct (strict c); [destruct (Rlt_dec _ _)|destruct (Rle_dec _ _)]; try lra; ring.
  - specialize (U _ (or_introl eq_refl)). rewrite minus_ok in U. unfold holds. rewrite (down_last _ _ _ A), (down_ok _ _ _ _ B).
    destruct (strict c); [destruct (Rlt_dec _ _)|destruct (Rle_dec _ _)]; try lra; ring.
Qed.
Lemma split_outside cs lows ups others x env b : split cs = Some (lows, ups, others) ->
  (In b lows /\ x < value b env) \/ (In b ups /\ value b env < x) -> all cs (x :: env) = 0.
Proof.
  revert lows ups others. induction cs as [|c r IH]; intros lows ups others; cbn [split all]; [intros [= <- <- <-] [[[] _]|[[] _]]|].
  destruct (split r) as [[[l u] o]|]; [|discriminate]. specialize (IH l u o eq_refl).
  destruct (down (lesser c)) as [a|] eqn:A; destruct (down (greater c)) as [d|] eqn:B; try discriminate; intros [= <- <- <-] H.
  - rewrite IH by exact H. ring.
  - destruct H as [[[<-|I] H]|H]; [|rewrite IH by auto; ring|rewrite IH by auto; ring]. rewrite minus_ok in H.
    unfold holds. rewrite (down_ok _ _ _ _ A), (down_last _ _ _ B). destruct (strict c); [destruct (Rlt_dec _ _)|destruct (Rle_dec _ _)]; try lra; ring.
  - destruct H as [H|[[<-|I] H]]; [rewrite IH by auto; ring| |rewrite IH by auto; ring]. rewrite minus_ok in H.
    unfold holds. rewrite (down_last _ _ _ A), (down_ok _ _ _ _ B). destruct (strict c); [destruct (Rlt_dec _ _)|destruct (Rle_dec _ _)]; try lra; ring.
Qed.

(* === integrals over the last variable, between bounds === *)
Lemma nothing_after h z : (forall x, z < x -> h x = 0) -> is_RInt_gen h (at_point z) (Rbar_locally p_infty) 0.
Proof.
  intros H. replace 0 with (- ev eps (anti nil) z) by (cbn; ring). apply (to_p eps E nil); [reflexivity|]. intros x X. rewrite H by exact X. cbn. ring.
Qed.
Lemma nothing_before h z : (forall x, x < z -> h x = 0) -> is_RInt_gen h (Rbar_locally m_infty) (at_point z) 0.
Proof.
  intros H. change 0 with (ev eps (anti nil) z). apply (from_m eps E nil); [reflexivity|]. intros x X. rewrite H by exact X. cbn. ring.
Qed.
Lemma multiple k f v Fa Fb {FFa : Filter Fa} {FFb : Filter Fb} : is_RInt_gen f Fa Fb v -> is_RInt_gen (fun x => k * f x) Fa Fb (k * v).
Proof. intros V. exact (is_RInt_gen_scal (V := R_NormedModule) f k v V). Qed.
Lemma upto_bound k f g h hi : below f = Some g -> (forall x, x < hi -> k * (eps * evp eps f x) = h x) -> (forall x, hi < x -> h x = 0) ->
  is_RInt_gen h (Rbar_locally m_infty) (Rbar_locally p_infty) (k * evp eps g hi).
Proof.
  intros G A B. replace (k * evp eps g hi) with (k * evp eps g hi + 0) by ring. apply join with hi; try exact _; [|apply nothing_after, B].
  eapply is_RInt_gen_ext; [|exact (multiple k _ _ _ _ (below_ok eps E f g hi G))]. apply (in_left (fun x => k * (eps * evp eps f x) = h x)), A.
Qed.
Lemma from_bound k f g h lo : above f = Some g -> (forall x, lo < x -> k * (eps * evp eps f x) = h x) -> (forall x, x < lo -> h x = 0) ->
  is_RInt_gen h (Rbar_locally m_infty) (Rbar_locally p_infty) (k * evp eps g lo).
Proof.
  intros G A B. replace (k * evp eps g lo) with (0 + k * evp eps g lo) by ring. apply join with lo; try exact _; [apply nothing_before, B|].
  eapply is_RInt_gen_ext; [|exact (multiple k _ _ _ _ (above_ok eps E f g lo G))]. apply (in_right (fun x => k * (eps * evp eps f x) = h x)), A.
Qed.
Lemma integral_between f g a b : below f = Some g -> a <= b -> is_RInt_gen (fun x => eps * evp eps f x) (at_point a) (at_point b) (evp eps g b - evp eps g a).
Proof.
  intros G L. pose proof (below_ok eps E f g b G) as B. pose proof (below_ok eps E f g a G) as A.
  assert (X : exists v : R, is_RInt (V := R_NormedModule) (fun x => eps * evp eps f x) a b v).
  { assert (T : locally (evp eps g b) (fun _ => True)) by (apply filter_forall; auto). specialize (B _ T).
    destruct B as [P Q [M HP] HQ H]. destruct (H (Rmin (M - 1) a) b) as [v [V _]].
    - apply HP. eapply Rle_lt_trans; [apply Rmin_l|lra].
    - exact HQ.
    - apply (ex_RInt_Chasles_2 (V := R_CompleteNormedModule) _ (Rmin (M - 1) a)); [split; [apply Rmin_r|exact L]|]. exists v. exact V. }
  destruct X as [v V]. assert (W : is_RInt_gen (fun x => eps * evp eps f x) (at_point a) (at_point b) v) by (apply is_RInt_gen_at_point; exact V).
  assert (S : evp eps g a + v = evp eps g b).
  { rewrite <- (is_RInt_gen_unique _ _ B). symmetry. apply is_RInt_gen_unique. apply (join _ _ _ a); assumption. }
  rewrite <- S. replace (evp eps g a + v - evp eps g a) with v by ring. exact W.
Qed.
Lemma between_bounds k f g h lo hi : below f = Some g -> (forall x, lo < x < hi -> k * (eps * evp eps f x) = h x) -> (forall x, x < lo \/ hi < x -> h x = 0) ->
  is_RInt_gen h (Rbar_locally m_infty) (Rbar_locally p_infty) (k * ((if Rle_dec lo hi then 1 else 0) * (evp eps g hi - evp eps g lo))).
Proof.
  intros G A B. destruct (Rle_dec lo hi) as [L|L].
  - replace (k * (1 * (evp eps g hi - evp eps g lo))) with (0 + k * (evp eps g hi - evp eps g lo) + 0) by ring.
    apply join with hi; try exact _; [apply join with lo; try exact _|]; [apply nothing_before; auto| |apply nothing_after; auto].
    eapply is_RInt_gen_ext; [|exact (multiple k _ _ _ _ (integral_between f g lo hi G L))]. apply (in_mid (fun x => k * (eps * evp eps f x) = h x)); [exact L|exact A].
  - replace (k * (0 * (evp eps g hi - evp eps g lo))) with (0 + 0) by ring. apply join with lo; try exact _; [apply nothing_before; auto|apply nothing_after]. intros x X. apply B. right. lra.
Qed.

Definition minus_one : sum := number (-1).
Definition alternatives (f : bound -> list product) (cases : list (bound * list constraint)) : list product := flat_map (fun vc => constrained (snd vc) (f (fst vc))) cases.
Lemma alternatives_ok f phi cases env : (forall b, evs (f b) env = phi (value b env)) -> evs (alternatives f cases) env = over phi cases env.
Proof.
  intros H. unfold alternatives. induction cases as [|[v C] r IH]; cbn [flat_map over fst snd evs]; [reflexivity|]. rewrite evs_app, constrained_ok, IH, H. reflexivity.
Qed.
(* The integral of eps times a product over its last variable, which is its first factor. *)
Definition integrate (p : product) : option (list product) :=
  match factors p, split (orders p) with
  | f :: fs, Some (lows, ups, others) =>
      let q := Product (weight p) fs others in
      match lows, ups with
      | nil, nil => match whole f with Some s => Some [Product (mul (weight p) s) fs others] | None => None end
      | nil, u :: us => match below f with Some g => Some (alternatives (fun b => [times_at g b q]) (least u us)) | None => None end
      | l :: ls, nil => match above f with Some g => Some (alternatives (fun b => [times_at g b q]) (greatest l ls)) | None => None end
      | l :: ls, u :: us =>
          match below f with
          | Some g => Some (alternatives (fun hi => alternatives (fun lo =>
              constrain (le lo hi) (times_at g hi q) ++ constrain (le lo hi) (times_at (scalep minus_one g) lo q)) (greatest l ls)) (least u us))
          | None => None
          end
      end
  | _, _ => None
  end.
Lemma integrate_ok p ps env : integrate p = Some ps ->
  is_RInt_gen (fun x => eps * ev_product p (x :: env)) (Rbar_locally m_infty) (Rbar_locally p_infty) (evs ps env).
Proof.
  destruct p as [w fs cs]. unfold integrate. cbn [weight factors orders]. destruct fs as [|f fs]; [discriminate|].
  destruct (split cs) as [[[lows ups] others]|] eqn:S; [|discriminate]. cbv zeta. set (q := Product w fs others).
  set (k := ev_product q env).
  assert (Inside : forall x, (forall b, In b lows -> value b env < x) -> (forall b, In b ups -> x < value b env) ->
    k * (eps * evp eps f x) = eps * ev_product (Product w (f :: fs) cs) (x :: env)).
  { intros x L U. unfold k, q, ev_product. cbn [weight factors orders evf nth tl]. rewrite (split_inside _ _ _ _ x env S L U). ring. }
  assert (Outside : forall x b, (In b lows /\ x < value b env) \/ (In b ups /\ value b env < x) -> eps * ev_product (Product w (f :: fs) cs) (x :: env) = 0).
  { intros x b H. unfold ev_product. cbn [orders]. rewrite (split_outside _ _ _ _ x env b S H). ring. }
  set (h := fun x => eps * ev_product (Product w (f :: fs) cs) (x :: env)).
  assert (At : forall g b, evs [times_at g b q] env = k * evp eps g (value b env)) by (intros g b; cbn [evs]; rewrite times_at_ok; unfold k; ring).
  destruct lows as [|l ls], ups as [|u us].
  - destruct (whole f) as [s|] eqn:W; [|discriminate]. intros [= <-].
    replace (evs [Product (mul w s) fs others] env) with (k * ev eps s 0).
    2: { unfold k, q, ev_product. cbn [evs]. unfold ev_product. cbn [weight factors orders]. rewrite mul_ok. ring. }
    eapply is_RInt_gen_ext; [|exact (multiple k _ _ _ _ (whole_ok eps E f s 0 W))]. apply filter_forall. intros ab x _. apply Inside; intros b [].
  - destruct (below f) as [g|] eqn:B; [|discriminate]. intros [= <-].
    rewrite (alternatives_ok _ (fun v => k * evp eps g v)) by (intros; apply At). rewrite least_ok. apply (upto_bound k f g h _ B).
    + intros x X. apply Inside; [intros b []|]. intros b I. eapply Rlt_le_trans; [exact X|]. apply least_lower, I.
    + intros x X. destruct (least_one u us env) as [c [I V]]. apply (Outside x c). right. rewrite <- V. auto.
  - destruct (above f) as [g|] eqn:B; [|discriminate]. intros [= <-].
    rewrite (alternatives_ok _ (fun v => k * evp eps g v)) by (intros; apply At). rewrite greatest_ok. apply (from_bound k f g h _ B).
    + intros x X. apply Inside; [|intros b []]. intros b I. eapply Rle_lt_trans; [|exact X]. apply greatest_upper, I.
    + intros x X. destruct (greatest_one l ls env) as [c [I V]]. apply (Outside x c). left. rewrite <- V. auto.
  - destruct (below f) as [g|] eqn:B; [|discriminate]. intros [= <-].
    set (lo := greatest_value l ls env). set (hi := least_value u us env).
    assert (V : evs (alternatives (fun hi => alternatives (fun lo => constrain (le lo hi) (times_at g hi q) ++ constrain (le lo hi) (times_at (scalep minus_one g) lo q)) (greatest l ls)) (least u us)) env
      = k * ((if Rle_dec lo hi then 1 else 0) * (evp eps g hi - evp eps g lo))).
    { rewrite (alternatives_ok _ (fun h => k * ((if Rle_dec lo h then 1 else 0) * (evp eps g h - evp eps g lo)))).
      - rewrite least_ok. reflexivity.
      - intros b. rewrite (alternatives_ok _ (fun v => k * ((if Rle_dec v (value b env) then 1 else 0) * (evp eps g (value b env) - evp eps g v)))).
        + rewrite greatest_ok. reflexivity.
        + intros a. rewrite evs_app, !constrain_ok, !times_at_ok, scalep_ok. unfold minus_one. rewrite number_ok.
          unfold holds, le. cbn [strict lesser greater]. fold k. replace (Q2R (-1)) with (-1) by (unfold Q2R; cbn; lra). ring. }
    rewrite V. apply (between_bounds k f g h lo hi B).
    + intros x X. apply Inside; intros b I.
      * eapply Rle_lt_trans; [|apply X]. apply greatest_upper, I.
      * eapply Rlt_le_trans; [apply X|]. apply least_lower, I.
    + intros x [X|X].
      * destruct (greatest_one l ls env) as [c [I V']]. apply (Outside x c). left. rewrite <- V'. auto.
      * destruct (least_one u us env) as [c [I V']]. apply (Outside x c). right. rewrite <- V'. auto.
Qed.
Definition integrate_all (ps : list product) : option (list product) :=
  fold_right (fun p r => match integrate p, r with Some a, Some b => Some (a ++ b) | _, _ => None end) (Some nil) ps.
Lemma integrate_all_ok ps qs env : integrate_all ps = Some qs ->
  is_RInt_gen (fun x => eps * evs ps (x :: env)) (Rbar_locally m_infty) (Rbar_locally p_infty) (evs qs env).
Proof.
  revert qs. induction ps as [|p r IH]; intros qs; cbn [integrate_all fold_right].
  - intros [= <-]. cut (is_RInt_gen (fun x => eps * evs nil (x :: env)) (Rbar_locally m_infty) (Rbar_locally p_infty) (0 + 0)); [cbn [evs]; rewrite Rplus_0_r; auto|].
    apply join with 0; try exact _; [apply nothing_before|apply nothing_after]; intros; cbn [evs]; ring.
  - destruct (integrate p) as [a|] eqn:A; [|discriminate]. unfold integrate_all in IH. destruct (fold_right _ _ r) as [b|]; [|discriminate]. intros [= <-].
    rewrite evs_app. eapply is_RInt_gen_ext; [|exact (is_RInt_gen_plus (V := R_NormedModule) _ _ _ _ (integrate_ok _ _ env A) (IH b eq_refl))].
    apply filter_forall. intros ab x _. unfold plus. cbn [evs]. cbn -[ev_product evs]. ring.
Qed.
Definition with_density (noise : law) (rate mean : Q) (ps : list product) :=
  map (fun p => Product (weight p) (put 0 (density_pieces noise rate mean) (factors p)) (orders p)) ps.
Lemma with_density_ok noise rate mean ps x env :
  eps * evs (with_density noise rate mean ps) (x :: env) = density noise (Q2R rate * eps) (x - Q2R mean) * evs ps (x :: env).
Proof.
  rewrite (density_ok eps). induction ps as [|p r IH]; cbn [with_density map evs]; [ring|]. unfold with_density in IH. rewrite !Rmult_plus_distr_l, IH. f_equal.
  unfold ev_product. cbn [weight factors orders]. rewrite put_ok. cbn [nth]. ring.
Qed.
Definition scaled (w : Q) (ps : list product) := map (fun p => Product (mul (number w) (weight p)) (factors p) (orders p)) ps.
Lemma scaled_ok w ps env : evs (scaled w ps) env = Q2R w * evs ps env.
Proof.
  induction ps as [|p r IH]; cbn [scaled map evs]; [ring|]. unfold scaled in IH. rewrite IH, Rmult_plus_distr_l. f_equal.
  unfold ev_product. cbn [weight factors orders]. rewrite mul_ok, number_ok. ring.
Qed.
End Products.

(* === programs of DiPWhile+ without loops === *)
(* Real variables hold reals, and finite ones rationals: truth values are 1 and 0, words their positions in the domain. Variables are
   numbered, and 0 before they are assigned. *)
Inductive finite := FVar (n : nat) | FNum (c : Q) | FPlus (a b : finite) | FTimes (a b : finite) | FMin (a b : finite) | FMax (a b : finite).
Inductive expression := Var (n : nat) | Num (c : Q) | Plus (a b : expression) | Times (c : Q) (a : expression) | Finite (a : finite).
Inductive condition := Ge (a b : expression) | FGe (a b : finite) | Not (c : condition) | And (a b : condition) | Or (a b : condition).
Inductive statement :=
  | Skip
  | Noise (noise : law) (x : nat) (rate : Q) (mean : expression)   (* x <- Lap(rate*eps, mean) *)
  | Assign (x : nat) (e : expression)                  (* x <- e, for a real variable *)
  | Store (v : nat) (e : finite)                       (* v <- e, for a finite one *)
  | Choose (v : nat) (arms : list (finite * Q))        (* v <- choose { value : weight, ... } *)
  | If (c : condition) (yes no : statement)
  | Then (first second : statement)
  | Exit.
Definition block (body : list statement) : statement := fold_right Then Skip body.
Definition Is (v : nat) (c : Q) : condition := And (FGe (FVar v) (FNum c)) (FGe (FNum c) (FVar v)).
Definition within (x : nat) (low high : Q) : condition := And (Ge (Var x) (Num low)) (Ge (Num high) (Var x)).
Definition always : condition := FGe (FNum 0) (FNum 0).
Definition all_of (cs : list condition) : condition := match cs with nil => always | c :: r => fold_left And r c end.
Definition any_of (cs : list condition) : condition := match cs with nil => Not always | c :: r => fold_left Or r c end.

Fixpoint chosen (e : finite) (state : list Q) : Q :=
  match e with
  | FVar n => nth n state 0%Q | FNum c => c
  | FPlus a b => Qred (chosen a state + chosen b state) | FTimes a b => Qred (chosen a state * chosen b state)
  | FMin a b => if Qle_bool (chosen a state) (chosen b state) then chosen a state else chosen b state
  | FMax a b => if Qle_bool (chosen a state) (chosen b state) then chosen b state else chosen a state
  end.
Fixpoint evaluate (e : expression) (store : list R) (state : list Q) : R :=
  match e with
  | Var n => nth n store 0 | Num c => Q2R c | Plus a b => evaluate a store state + evaluate b store state
  | Times c a => Q2R c * evaluate a store state | Finite a => Q2R (chosen a state)
  end.
Fixpoint truth (c : condition) (store : list R) (state : list Q) : bool :=
  match c with
  | Ge a b => if Rle_dec (evaluate b store state) (evaluate a store state) then true else false
  | FGe a b => Qle_bool (chosen b state) (chosen a state)
  | Not c => negb (truth c store state)
  | And a b => (truth a store state && truth b store state)%bool
  | Or a b => (truth a store state || truth b store state)%bool
  end.
Fixpoint set {A} (zero : A) (n : nat) (v : A) (l : list A) : list A :=
  match n, l with
  | O, nil => [v] | O, _ :: r => v :: r
  | S n, nil => zero :: set zero n v nil | S n, x :: r => x :: set zero n v r
  end.

(* The meaning of a statement, where `next` is the probability of the event after it, and `last` after the program. *)
Definition continuation := list R -> list Q -> R.
Fixpoint run (eps : R) (s : statement) (last next : continuation) : continuation :=
  match s with
  | Skip => next
  | Noise noise x rate mean => fun store state =>
      RInt_gen (fun y => density noise (Q2R rate * eps) (y - evaluate mean store state) * next (set 0 x y store) state) (Rbar_locally m_infty) (Rbar_locally p_infty)
  | Assign x e => fun store state => next (set 0 x (evaluate e store state) store) state
  | Store v e => fun store state => next store (set 0%Q v (chosen e state) state)
  | Choose v arms => fun store state => fold_right (fun arm r => Q2R (snd arm) * next store (set 0%Q v (chosen (fst arm) state) state) + r) 0 arms
  | If c yes no => fun store state => if truth c store state then run eps yes last next store state else run eps no last next store state
  | Then a b => run eps a last (run eps b last next)
  | Exit => last
  end.
(* The probability that `event` holds at the end of the program. *)
Definition Pr (s : statement) (event : condition) (eps : R) : R :=
  let last := fun store state => if truth event store state then 1 else 0 in run eps s last last nil nil.

(* === the same with a variable for each noise === *)
Definition symbolic := list bound -> list Q -> option (list product).
Definition zero_bound : bound := (None, 0%Q).
Fixpoint symbol (e : expression) (store : list bound) (state : list Q) : option bound :=
  match e with
  | Var n => Some (nth n store zero_bound)
  | Num c => Some (None, c)
  | Plus a b =>
      match symbol a store state, symbol b store state with
      | Some (i, c), Some (None, d) => Some (i, Qred (c + d))
      | Some (None, c), Some (j, d) => Some (j, Qred (c + d))
      | _, _ => None
      end
  | Times c a =>
      match symbol a store state with
      | Some (None, d) => Some (None, Qred (c * d))
      | Some (i, d) => if Qeq_bool c 1 then Some (i, d) else None
      | None => None
      end
  | Finite a => Some (None, chosen a state)
  end.
Definition both (a b : option (list product)) := match a, b with Some a, Some b => Some (a ++ b) | _, _ => None end.
Fixpoint branch (c : condition) (yes no : symbolic) : symbolic :=
  match c with
  | Ge a b => fun store state =>
      match symbol a store state, symbol b store state with
      | Some a, Some b =>
          let o := le b a in
          match certain o with
          | Some true => yes store state
          | Some false => no store state
          | None => both (option_map (constrain_all o) (yes store state)) (option_map (constrain_all (negation o)) (no store state))
          end
      | _, _ => None
      end
  | FGe a b => fun store state => if Qle_bool (chosen b state) (chosen a state) then yes store state else no store state
  | Not c => branch c no yes
  | And a b => branch a (branch b yes no) no
  | Or a b => branch a yes (branch b yes no)
  end.
Fixpoint execute (s : statement) (last next : symbolic) : symbolic :=
  match s with
  | Skip => next
  | Noise noise x rate mean => fun store state =>
      match symbol mean store state with
      | Some (None, c) =>
          match next (set zero_bound x (Some O, 0%Q) (map up store)) state with
          | Some ps => integrate_all (with_density noise rate c ps)
          | None => None
          end
      | _ => None
      end
  | Assign x e => fun store state => match symbol e store state with Some b => next (set zero_bound x b store) state | None => None end
  | Store v e => fun store state => next store (set 0%Q v (chosen e state) state)
  | Choose v arms => fun store state =>
      fold_right (fun arm r => both (option_map (scaled (snd arm)) (next store (set 0%Q v (chosen (fst arm) state) state))) r) (Some nil) arms
  | If c yes no => branch c (execute yes last next) (execute no last next)
  | Then a b => execute a last (execute b last next)
  | Exit => last
  end.
Definition total (ps : list product) : option sum :=
  fold_right (fun p r => match factors p, orders p, r with nil, nil, Some r => Some (add (at_ 0 (weight p)) r) | _, _, _ => None end) (Some nil) ps.
Definition closed_form (s : statement) (event : condition) : option sum :=
  let last := branch event (fun _ _ => Some [Product (number 1) nil nil]) (fun _ _ => Some nil) in
  match execute s last last nil nil with Some ps => total ps | None => None end.

Section Programs.
Variable eps : R.
Hypothesis E : 0 < eps.
Definition concrete (store : list bound) (env : list R) := map (fun b => value b env) store.
Lemma zero_value env : value zero_bound env = 0.
Proof. unfold value, zero_bound. cbn [fst snd]. rewrite RMicromega.Q2R_0. ring. Qed.
Lemma set_concrete n b store env : concrete (set zero_bound n b store) env = set 0 n (value b env) (concrete store env).
Proof.
  revert store. induction n as [|n IH]; intros [|c r]; cbn [set concrete map]; try reflexivity.
  - rewrite zero_value. f_equal. exact (IH nil).
  - f_equal. apply IH.
Qed.
Lemma up_concrete store x env : concrete (map up store) (x :: env) = concrete store env.
Proof. induction store as [|b r IH]; cbn [map concrete]; [reflexivity|]. rewrite up_ok. f_equal. exact IH. Qed.
Lemma some {A} (a b : A) : Some a = Some b -> a = b.
Proof. intros [= ->]. reflexivity. Qed.
Lemma symbol_ok e store state env b : symbol e store state = Some b -> evaluate e (concrete store env) state = value b env.
Proof.
  revert b. induction e as [n|c|a IHa b IHb|c a IH|a]; intros d; cbn [symbol evaluate].
  - intros H. apply some in H. subst d. unfold concrete. rewrite <- (zero_value env). apply (map_nth (fun b => value b env)).
  - intros H. apply some in H. subst d. unfold value. cbn [fst snd]. ring.
  - destruct (symbol a store state) as [[i p]|]; [|discriminate]. destruct (symbol b store state) as [[j q]|]; [|destruct i; discriminate].
    intros H. rewrite (IHa _ eq_refl), (IHb _ eq_refl).
    destruct i as [i|]; destruct j as [j|]; try discriminate H; apply some in H; subst d; unfold value; cbn [fst snd]; rewrite red, Q2R_plus; ring.
  - destruct (symbol a store state) as [[[i|] p]|]; try discriminate; rewrite (IH _ eq_refl).
    + destruct (Qeq_bool c 1) eqn:C; [|discriminate]. apply Qeq_bool_eq, Qeq_eqR in C. rewrite RMicromega.Q2R_1 in C. intros H. apply some in H. subst d. rewrite C. ring.
    + intros H. apply some in H. subst d. unfold value. cbn [fst snd]. rewrite red, Q2R_mult. ring.
  - intros H. apply some in H. subst d. unfold value. cbn [fst snd]. ring.
Qed.

Definition means (k : symbolic) (m : continuation) := forall store state ps env, k store state = Some ps -> m (concrete store env) state = evs eps ps env.
Lemma both_ok a b ps env : both a b = Some ps -> exists p q, a = Some p /\ b = Some q /\ evs eps ps env = evs eps p env + evs eps q env.
Proof. destruct a as [p|], b as [q|]; try discriminate. intros [= <-]. exists p, q. rewrite evs_app. auto. Qed.
Lemma branch_ok c : forall yes no myes mno, means yes myes -> means no mno ->
  means (branch c yes no) (fun store state => if truth c store state then myes store state else mno store state).
Proof.
  induction c as [a b|a b|c IH|a IHa b IHb|a IHa b IHb]; intros yes no myes mno Y N store state ps env; cbn [branch truth].
  - destruct (symbol a store state) as [p|] eqn:A; [|discriminate]. destruct (symbol b store state) as [q|] eqn:B; [|discriminate].
    rewrite (symbol_ok _ _ _ env _ A), (symbol_ok _ _ _ env _ B). cbv zeta.
    destruct (certain (le q p)) as [[]|] eqn:C.
    + apply (certain_ok _ _ env) in C. unfold holds, le in C. cbn [strict lesser greater] in C. destruct (Rle_dec _ _); [apply Y|lra].
    + apply (certain_ok _ _ env) in C. unfold holds, le in C. cbn [strict lesser greater] in C. destruct (Rle_dec _ _); [lra|apply N].
    + intros H. apply (both_ok _ _ _ env) in H. destruct H as [u [v [U [V ->]]]].
      destruct (yes store state) as [u'|] eqn:U'; [|discriminate]. destruct (no store state) as [v'|] eqn:V'; [|discriminate].
      injection U as <-. injection V as <-. rewrite !constrain_all_ok, negation_ok. rewrite (Y _ _ _ env U'), (N _ _ _ env V').
      unfold holds, le. cbn [strict lesser greater]. destruct (Rle_dec _ _); ring.
  - destruct (Qle_bool _ _); [apply Y|apply N].
  - intros H. pose proof (IH no yes mno myes N Y _ _ _ env H) as V. cbv beta in V. destruct (truth c _ _); exact V.
  - intros H. pose proof (IHa _ no _ mno (IHb yes no myes mno Y N) N _ _ _ env H) as V. cbv beta in V.
    destruct (truth a _ _); [|exact V]. destruct (truth b _ _); exact V.
  - intros H. pose proof (IHa yes _ myes _ Y (IHb yes no myes mno Y N) _ _ _ env H) as V. cbv beta in V.
    destruct (truth a _ _); [exact V|]. destruct (truth b _ _); exact V.
Qed.
Lemma execute_ok s : forall last next mlast mnext, means last mlast -> means next mnext -> means (execute s last next) (run eps s mlast mnext).
Proof.
  induction s as [|noise x rate mean|x e|v e|v arms|c yes IHy no IHn|a IHa b IHb|]; intros last next mlast mnext L N; cbn [execute run]; try assumption.
  - intros store state ps env. destruct (symbol mean store state) as [[[i|] c]|] eqn:M; try discriminate.
    destruct (next _ state) as [qs|] eqn:Q; [|discriminate]. intros H.
    apply is_RInt_gen_unique. eapply is_RInt_gen_ext; [|exact (integrate_all_ok eps E _ _ env H)].
    apply filter_forall. intros ab y _. rewrite with_density_ok, (symbol_ok _ _ _ env _ M). unfold value at 1. cbn [fst snd]. rewrite Rplus_0_l. f_equal.
    rewrite <- (N _ _ _ (y :: env) Q). f_equal. rewrite set_concrete, up_concrete. f_equal. unfold value. cbn [fst snd nth]. rewrite RMicromega.Q2R_0. ring.
  - intros store state ps env. destruct (symbol e store state) as [b|] eqn:B; [|discriminate]. intros H.
    rewrite (symbol_ok _ _ _ env _ B), <- set_concrete. apply N, H.
  - intros store state ps env H. apply N, H.
  - intros store state ps env. revert ps. induction arms as [|[z w] r IH]; intros ps; cbn [fold_right fst snd].
    + intros [= <-]. reflexivity.
    + intros H. apply (both_ok _ _ _ env) in H. destruct H as [p [q [P [R' ->]]]]. destruct (next store _) as [p'|] eqn:P'; [|discriminate].
      injection P as <-. rewrite scaled_ok, (IH q R'), (N _ _ _ env P'). reflexivity.
  - apply branch_ok; [apply IHy|apply IHn]; assumption.
  - apply IHa; [assumption|]. apply IHb; assumption.
Qed.
Lemma total_ok ps s : total ps = Some s -> evs eps ps nil = ev eps s 0.
Proof.
  revert s. induction ps as [|p r IH]; intros s; cbn [total fold_right evs]; [intros [= <-]; reflexivity|].
  destruct p as [w [|f fs] [|o os]]; cbn [factors orders]; try discriminate. unfold total in IH. destruct (fold_right _ _ r) as [t|]; [|discriminate].
  intros [= <-]. rewrite add_ok, at_ok, (IH t eq_refl), RMicromega.Q2R_0. unfold ev_product. cbn [weight factors orders evf all]. ring.
Qed.
(* The probability of an event is its closed form. *)
Lemma closed_form_ok s event c : closed_form s event = Some c -> Pr s event eps = ev eps c 0.
Proof.
  unfold closed_form, Pr. cbv zeta. destruct (execute _ _ _ _ _) as [ps|] eqn:P; [|discriminate]. intros T. rewrite <- (total_ok _ _ T).
  assert (L : means (branch event (fun _ _ => Some [Product (number 1) nil nil]) (fun _ _ => Some nil)) (fun store state => if truth event store state then 1 else 0)).
  { apply (branch_ok event _ _ (fun _ _ => 1) (fun _ _ => 0)); intros store state qs env H; apply some in H; subst qs; cbn [evs]; [|reflexivity].
    unfold ev_product. cbn [weight factors orders evf all]. rewrite number_ok, RMicromega.Q2R_1. ring. }
  exact (execute_ok s _ _ _ _ L L nil nil ps nil P).
Qed.
End Programs.

End Programs.

(* === closed forms as functions of eps that are data === *)
Definition rational (c : Q) : fn := Div (C (Qnum c)) (C (Zpos (Qden c))).
Definition fn_term (t : Programs.term) : option fn :=
  match t with Programs.T c k q O _ => Some (Mul (Mul (rational c) (Pow X k)) (Ex (Mul (rational q) X))) | _ => None end.
Fixpoint fn_sum (s : Programs.sum) : option fn :=
  match s with
  | nil => Some (C 0)
  | t :: r => match fn_term t, fn_sum r with Some a, Some b => Some (Add a b) | _, _ => None end
  end.
Lemma fn_sum_ok s f eps : fn_sum s = Some f -> Programs.ev eps s 0 = den f eps.
Proof.
  revert f. induction s as [|[c k q [|n] l] r IH]; intros f; cbn [fn_sum fn_term]; try discriminate; [intros [= <-]; reflexivity|].
  destruct (fn_sum r) as [b|]; [|discriminate]. intros H. injection H as <-. cbn [Programs.ev den]. rewrite (IH b eq_refl). f_equal.
  unfold Programs.ev1, rational. cbn [den pow]. unfold Q2R, Rdiv. rewrite Rmult_0_r, Rplus_0_r, Rmult_1_r. f_equal. f_equal. ring.
Qed.
Definition equal_fn (un ud : Z) (f g : fn) : bool :=
  match norm un ud (Sub f g) with Some (d, a, b) => (is_nil a && same b one && negb (Z.eqb d 0))%bool | None => false end.
Lemma equal_fn_ok un ud f g eps : (0 < un)%Z -> (0 < ud)%Z -> equal_fn un ud f g = true -> den f eps = den g eps.
Proof.
  intros U V. unfold equal_fn. destruct (norm un ud (Sub f g)) as [[[d a] b]|] eqn:N; [|discriminate].
  destruct a; [|discriminate]. cbn [is_nil andb]. destruct (same b one) eqn:B; [|discriminate]. cbn [andb].
  destruct (Z.eqb_spec d 0) as [|D]; [discriminate|]. intros _. apply not_0_IZR in D.
  assert (U' : IZR un <> 0) by (apply not_0_IZR; lia). assert (V' : IZR ud <> 0) by (apply not_0_IZR; lia).
  set (t := IZR un * eps / IZR ud). apply (same_ok _ _ t) in B. rewrite one_ok in B.
  pose proof (norm_ok un ud t (Sub f g) U' _ N) as H. cbn [good value ev den] in H. rewrite B in H.
  replace (IZR ud * t / IZR un) with eps in H by (unfold t; field; split; assumption).
  specialize (H (conj D R1_neq_R0)). rewrite Rmult_1_r in H. unfold Rdiv in H. rewrite Rmult_0_l in H. lra.
Qed.
Definition has_probability (un ud : Z) (s : Programs.statement) (event : Programs.condition) (f : fn) : bool :=
  match Programs.closed_form s event with
  | Some c => match fn_sum c with Some g => equal_fn un ud g f | None => false end
  | None => false
  end.
Lemma probability un ud s event f eps : (0 < un)%Z -> (0 < ud)%Z -> 0 < eps -> has_probability un ud s event f = true ->
  Programs.Pr s event eps = den f eps.
Proof.
  intros U V E. unfold has_probability. destruct (Programs.closed_form s event) as [c|] eqn:K; [|discriminate].
  destruct (fn_sum c) as [g|] eqn:G; [|discriminate]. intros H.
  rewrite (Programs.closed_form_ok eps E s event c K), (fn_sum_ok c g eps G). exact (equal_fn_ok un ud g f eps U V H).
Qed.

(* Probabilities of programs, defined as iterated integrals: syntax, meaning, and noises of one comparison each. *)
Require Import Reals Lra List.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(* === programs, after unrolling === *)
Inductive number := Var (n : nat) | Num (x : R) | Plus (a b : number) | Times (c : R) (a : number).
Inductive program :=
  | Halt
  | Output (place value : nat) (p : program)
  | Laplace (rate : R) (mean : number) (p : program)   (* x <- Lap(rate * eps, mean); x is variable 0 of p *)
  | IfGe (a b : number) (p q : program)                (* if a >= b then p else q *)
  | Choose (weight : R) (p q : program).               (* p with this probability, else q *)

Fixpoint evaluate (a : number) (env : list R) : R :=
  match a with
  | Var n => nth n env 0 | Num x => x | Plus a b => evaluate a env + evaluate b env | Times c a => c * evaluate a env
  end.
Definition lap (r x : R) := r / 2 * exp (-(r * Rabs x)).
Fixpoint set_output (place value : nat) (out : list nat) : list nat :=
  match out, place with nil, _ => nil | _ :: r, O => value :: r | x :: r, S n => x :: set_output n value r end.
(* The probability that the outputs, which are out at the beginning, are wanted at the end. *)
Fixpoint pr (p : program) (eps : R) (env : list R) (out wanted : list nat) : R :=
  match p with
  | Halt => if list_eq_dec Nat.eq_dec out wanted then 1 else 0
  | Output place value p => pr p eps env (set_output place value out) wanted
  | Laplace rate mean p => RInt_gen (fun x => lap (rate * eps) (x - evaluate mean env) * pr p eps (x :: env) out wanted)
      (Rbar_locally m_infty) (Rbar_locally p_infty)
  | IfGe a b p q => if Rle_dec (evaluate b env) (evaluate a env) then pr p eps env out wanted else pr q eps env out wanted
  | Choose w p q => w * pr p eps env out wanted + (1 - w) * pr q eps env out wanted
  end.

(* === improper integrals, cell by cell === *)
Lemma cell (g h G : R -> R) Fa Fb (la lb : R) {FFa : ProperFilter' Fa} {FFb : ProperFilter' Fb} :
  (forall x, is_derive G x (g x)) -> (forall x, continuous g x) ->
  filterlim G Fa (locally la) -> filterlim G Fb (locally lb) ->
  filter_prod Fa Fb (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> g x = h x) ->
  is_RInt_gen h Fa Fb (lb - la).
Proof.
  intros D C A B E. apply is_RInt_gen_ext with (f := g); [exact E|].
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
Lemma lim_m k : 0 < k -> filterlim (fun x => exp (k * x)) (Rbar_locally m_infty) (locally 0).
Proof.
  intros K. apply (is_lim_comp exp (fun x => k * x) m_infty 0 m_infty); [apply is_lim_exp_m| |exists 0; intros; discriminate].
  replace m_infty with (Rbar_mult k m_infty) at 2.
  apply is_lim_scal_l, is_lim_id.
  unfold Rbar_mult, Rbar_mult'. destruct (Rle_dec 0 k); [|lra]. destruct (Rle_lt_or_eq_dec 0 k r); [reflexivity|lra].
Qed.
Lemma lim_p k : 0 < k -> filterlim (fun x => exp (-(k * x))) (Rbar_locally p_infty) (locally 0).
Proof.
  intros K. apply (filterlim_ext (fun x => exp (k * (-x)))); [intros; f_equal; ring|].
  apply (filterlim_comp _ _ _ Ropp (fun x => exp (k * x)) _ (Rbar_locally m_infty)); [|apply lim_m, K].
  apply (is_lim_opp (fun x => x) p_infty p_infty), is_lim_id.
Qed.
Lemma lim2 F {FF : Filter F} (c d : R) f g : filterlim f F (locally 0) -> filterlim g F (locally 0) -> filterlim (fun x : R => c * f x + d * g x) F (locally (0:R)).
Proof.
  intros A B. replace (locally (0:R)) with (locally (plus (scal c (0:R)) (scal d (0:R)) : R)) by (f_equal; unfold plus, scal; cbn; unfold mult; cbn; ring).
  eapply filterlim_comp_2; [| |apply (filterlim_plus (V := R_NormedModule) (scal c (0:R)) (scal d (0:R)))].
  - eapply filterlim_comp; [exact A|]. apply (filterlim_scal_r (V := R_NormedModule) c (0:R)).
  - eapply filterlim_comp; [exact B|]. apply (filterlim_scal_r (V := R_NormedModule) d (0:R)).
Qed.
Lemma in_left (P : R -> Prop) c : (forall x, x < c -> P x) -> filter_prod (Rbar_locally m_infty) (at_point c) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros H. exists (fun x => x < c) (fun x => x = c); [exists c; auto|reflexivity|]. intros a b A -> x. cbn. rewrite Rmin_left, Rmax_right by lra. intros. apply H; lra. Qed.
Lemma in_right (P : R -> Prop) c : (forall x, c < x -> P x) -> filter_prod (at_point c) (Rbar_locally p_infty) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros H. exists (fun x => x = c) (fun x => c < x); [reflexivity|exists c; auto|]. intros a b -> A x. cbn. rewrite Rmin_left, Rmax_right by lra. intros. apply H; lra. Qed.
Lemma in_mid (P : R -> Prop) a b : a <= b -> (forall x, a < x < b -> P x) -> filter_prod (at_point a) (at_point b) (fun ab => forall x, Rmin (fst ab) (snd ab) < x < Rmax (fst ab) (snd ab) -> P x).
Proof. intros L H. exists (fun x => x = a) (fun x => x = b); [reflexivity|reflexivity|]. intros u v -> -> x. cbn. rewrite Rmin_left, Rmax_right by lra. apply H. Qed.
Ltac antider := intros; auto_derive; [exact I|try (field; lra)].
Ltac contin := intros; apply (ex_derive_continuous (V := R_NormedModule)); auto_derive; exact I.


(* === one noise that is compared once === *)
Definition cdf r z := if Rle_dec z 0 then exp (r * z) / 2 else 1 - exp (-(r * z)) / 2.
Lemma lap_neg r x : x <= 0 -> lap r x = r / 2 * exp (r * x).
Proof. intros. unfold lap. rewrite Rabs_left1 by lra. f_equal. f_equal. ring. Qed.
Lemma lap_pos r x : 0 <= x -> lap r x = r / 2 * exp (-(r * x)).
Proof. intros. unfold lap. rewrite Rabs_pos_eq by lra. reflexivity. Qed.
Lemma rising r m s : exp (r * (s - m)) = exp (-(r * m)) * exp (r * s).
Proof. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma falling r m s : exp (-(r * (s - m))) = exp (r * m) * exp (-(r * s)).
Proof. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma left_of_mean r m t c : 0 < r -> t <= m ->
  is_RInt_gen (fun x => lap r (x - m) * c) (Rbar_locally m_infty) (at_point t) (c * (exp (r * (t - m)) / 2)).
Proof.
  intros R T. set (G := fun x => c / 2 * exp (-(r * m)) * exp (r * x) + 0 * exp (r * x)).
  replace (c * (exp (r * (t - m)) / 2)) with (G t - 0) by (unfold G; rewrite rising; field).
  apply (cell (fun x => c * (r / 2) * exp (-(r * m)) * exp (r * x)) _ G); [exact _|exact _| | | | | ].
  - unfold G. antider.
  - contin.
  - unfold G. apply lim2; try exact _; apply lim_m, R.
  - apply at_pt.
  - apply in_left. intros. rewrite lap_neg by lra. rewrite rising. ring.
Qed.
Lemma right_of_mean r m t c : 0 < r -> m <= t ->
  is_RInt_gen (fun x => lap r (x - m) * c) (at_point t) (Rbar_locally p_infty) (c * (exp (-(r * (t - m))) / 2)).
Proof.
  intros R T. set (G := fun x => - (c / 2 * exp (r * m)) * exp (-(r * x)) + 0 * exp (-(r * x))).
  replace (c * (exp (-(r * (t - m))) / 2)) with (0 - G t) by (unfold G; rewrite falling; field).
  apply (cell (fun x => c * (r / 2) * exp (r * m) * exp (-(r * x))) _ G); [exact _|exact _| | | | | ].
  - unfold G. antider.
  - contin.
  - apply at_pt.
  - unfold G. apply lim2; try exact _; apply lim_p, R.
  - apply in_right. intros. rewrite lap_pos by lra. rewrite falling. ring.
Qed.
Lemma before_mean r m a b c : a <= b <= m ->
  is_RInt_gen (fun x => lap r (x - m) * c) (at_point a) (at_point b) (c * (exp (r * (b - m)) / 2) - c * (exp (r * (a - m)) / 2)).
Proof.
  intros T. set (G := fun x => c * (exp (r * (x - m)) / 2)). change (is_RInt_gen (fun x => lap r (x - m) * c) (at_point a) (at_point b) (G b - G a)).
  apply (cell (fun x => c * (r / 2 * exp (r * (x - m)))) _ G); [exact _|exact _| | | | | ].
  - intros. unfold G. auto_derive; [exact I|]. replace (x + - m) with (x - m) by ring. field.
  - contin.
  - apply at_pt.
  - apply at_pt.
  - apply in_mid; [lra|]. intros. rewrite lap_neg by lra. ring.
Qed.
Lemma after_mean r m a b c : m <= a <= b ->
  is_RInt_gen (fun x => lap r (x - m) * c) (at_point a) (at_point b) (c * (exp (-(r * (a - m))) / 2) - c * (exp (-(r * (b - m))) / 2)).
Proof.
  intros T. set (G := fun x => - (c * (exp (-(r * (x - m))) / 2))).
  replace (c * (exp (-(r * (a - m))) / 2) - c * (exp (-(r * (b - m))) / 2)) with (G b - G a) by (unfold G; ring).
  apply (cell (fun x => c * (r / 2 * exp (-(r * (x - m))))) _ G); [exact _|exact _| | | | | ].
  - intros. unfold G. auto_derive; [exact I|]. replace (x + - m) with (x - m) by ring. field.
  - contin.
  - apply at_pt.
  - apply at_pt.
  - apply in_mid; [lra|]. intros. rewrite lap_pos by lra. ring.
Qed.
Lemma up_to r m t c : 0 < r -> is_RInt_gen (fun x => lap r (x - m) * c) (Rbar_locally m_infty) (at_point t) (c * cdf r (t - m)).
Proof.
  intros R. unfold cdf. destruct (Rle_dec (t - m) 0) as [T|T]; [apply left_of_mean; lra|].
  replace (c * (1 - exp (-(r * (t - m))) / 2)) with (c * (exp (r * (m - m)) / 2) + (c * (exp (-(r * (m - m))) / 2) - c * (exp (-(r * (t - m))) / 2))).
  2: { replace (m - m) with 0 by ring. rewrite Rmult_0_r, Ropp_0, exp_0. field. }
  apply join with m; try exact _; [apply left_of_mean|apply after_mean]; lra.
Qed.
Lemma from r m t c : 0 < r -> is_RInt_gen (fun x => lap r (x - m) * c) (at_point t) (Rbar_locally p_infty) (c * (1 - cdf r (t - m))).
Proof.
  intros R. unfold cdf. destruct (Rle_dec (t - m) 0) as [T|T].
  - replace (c * (1 - exp (r * (t - m)) / 2)) with ((c * (exp (r * (m - m)) / 2) - c * (exp (r * (t - m)) / 2)) + c * (exp (-(r * (m - m))) / 2)).
    2: { replace (m - m) with 0 by ring. rewrite Rmult_0_r, Ropp_0, exp_0. field. }
    apply join with m; try exact _; [apply before_mean|apply right_of_mean]; lra.
  - replace (c * (1 - (1 - exp (-(r * (t - m))) / 2))) with (c * (exp (-(r * (t - m))) / 2)) by ring. apply right_of_mean; lra.
Qed.
(* x <- Lap(r, m); if x >= t then (something of probability p) else (of probability q) *)
Lemma compared r m t p q : 0 < r ->
  RInt_gen (fun x => lap r (x - m) * (if Rle_dec t x then p else q)) (Rbar_locally m_infty) (Rbar_locally p_infty)
  = q * cdf r (t - m) + p * (1 - cdf r (t - m)).
Proof.
  intros R. apply is_RInt_gen_unique. apply join with t; try exact _.
  - apply is_RInt_gen_ext with (fun x => lap r (x - m) * q); [|apply up_to, R].
    apply (in_left (fun x => lap r (x - m) * q = lap r (x - m) * (if Rle_dec t x then p else q))).
    intros x X. destruct (Rle_dec t x); [lra|reflexivity].
  - apply is_RInt_gen_ext with (fun x => lap r (x - m) * p); [|apply from, R].
    apply (in_right (fun x => lap r (x - m) * p = lap r (x - m) * (if Rle_dec t x then p else q))).
    intros x X. destruct (Rle_dec t x); [reflexivity|lra].
Qed.

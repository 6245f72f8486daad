(* What the theorems below rest on: functions of eps as data, their normal form, and signs of sums of c * t^k * exp (-(j * t)). *)
Require Import Reals Lra Lia List ZArith.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Import ListNotations.
Open Scope R_scope.

(* === sums of terms: (c, k, j) is c * t^k * exp (-(j * t)) === *)
Definition term := (Z * nat * Z)%type.
Definition ev1 (x : term) (t : R) := let '(c, k, j) := x in IZR c * t ^ k * exp (-(IZR j * t)).
Fixpoint ev (l : list term) (t : R) : R := match l with nil => 0 | x :: r => ev1 x t + ev r t end.

Lemma exp_sum i j t : exp (-(IZR (i + j) * t)) = exp (-(IZR i * t)) * exp (-(IZR j * t)).
Proof. rewrite <- exp_plus. f_equal. rewrite plus_IZR. ring. Qed.

Fixpoint insert (x : term) (l : list term) : list term :=
  match l with
  | nil => [x]
  | y :: r => let '(c, k, j) := x in let '(c', k', j') := y in
      if (Nat.eqb k k' && Z.eqb j j')%bool then
        if Z.eqb (c + c') 0 then r else (c + c', k, j)%Z :: r
      else y :: insert x r
  end.
Lemma insert_ok x l t : ev (insert x l) t = ev1 x t + ev l t.
Proof.
  revert x; induction l as [|y r IH]; intros x; [reflexivity|].
  destruct x as [[c k] j], y as [[c' k'] j']. cbn [insert].
  destruct (Nat.eqb_spec k k'), (Z.eqb_spec j j'); cbn [andb]; try (cbn [ev]; rewrite IH; ring).
  subst. destruct (Z.eqb_spec (c + c') 0) as [E|E]; cbn [ev]; unfold ev1.
  - assert (E' : IZR c + IZR c' = 0) by (rewrite <- plus_IZR, E; reflexivity).
    replace (IZR c) with (- IZR c') by lra. ring.
  - rewrite plus_IZR. ring.
Qed.

Fixpoint plus_l (a b : list term) := match a with nil => b | x :: r => insert x (plus_l r b) end.
Lemma plus_ok a b t : ev (plus_l a b) t = ev a t + ev b t.
Proof. induction a as [|x r IH]; cbn [plus_l ev]; [ring|]. rewrite insert_ok, IH. ring. Qed.

Fixpoint times1 (x : term) (l : list term) : list term :=
  match l with
  | nil => nil
  | y :: r => let '(c, k, j) := x in let '(c', k', j') := y in (c * c', (k + k')%nat, j + j')%Z :: times1 x r
  end.
Lemma times1_ok x l t : ev (times1 x l) t = ev1 x t * ev l t.
Proof.
  destruct x as [[c k] j]. induction l as [|[[c' k'] j'] r IH]; cbn [times1 ev]; [ring|].
  rewrite IH. unfold ev1. rewrite exp_sum, mult_IZR, pow_add. ring.
Qed.

Fixpoint times_l (a b : list term) := match a with nil => nil | x :: r => plus_l (times1 x b) (times_l r b) end.
Lemma times_ok a b t : ev (times_l a b) t = ev a t * ev b t.
Proof. induction a as [|x r IH]; cbn [times_l ev]; [ring|]. rewrite plus_ok, times1_ok, IH. ring. Qed.

Definition scaled (c : Z) (l : list term) := times1 (c, O, 0%Z) l.
Lemma scaled_ok c l t : ev (scaled c l) t = IZR c * ev l t.
Proof. unfold scaled. rewrite times1_ok. unfold ev1. rewrite Rmult_0_l, Ropp_0, exp_0. cbn. ring. Qed.

Definition one : list term := [(1%Z, O, 0%Z)].
Lemma one_ok t : ev one t = 1.
Proof. cbn. rewrite Rmult_0_l, Ropp_0, exp_0. ring. Qed.

Fixpoint power (n : nat) (l : list term) := match n with O => one | S O => l | S m => times_l l (power m l) end.
Lemma power_ok n l t : ev (power n l) t = ev l t ^ n.
Proof.
  induction n as [|n IH]; [apply one_ok|]. destruct n as [|n]; [cbn; ring|].
  change (power (S (S n)) l) with (times_l l (power (S n) l)). rewrite times_ok, IH. reflexivity.
Qed.

Definition is_nil (l : list term) := match l with nil => true | _ => false end.
Definition same (a b : list term) := is_nil (plus_l a (scaled (-1) b)).
Lemma same_ok a b t : same a b = true -> ev a t = ev b t.
Proof.
  unfold same. intros H. assert (E := plus_ok a (scaled (-1) b) t). rewrite scaled_ok in E.
  destruct (plus_l a (scaled (-1) b)); [cbn in E; lra|discriminate].
Qed.

(* Whether a is b times a positive number and some exp (m * t). *)
Fixpoint least_j (j : Z) (l : list term) := match l with nil => j | (_, _, i) :: r => least_j (Z.min j i) r end.
Definition first_j (l : list term) := match l with nil => 0%Z | (_, _, j) :: r => least_j j r end.
Fixpoint coefficient (k : nat) (j : Z) (l : list term) : Z :=
  match l with nil => 0%Z | (c, k', j') :: r => if (Nat.eqb k k' && Z.eqb j j')%bool then c else coefficient k j r end.
Definition proportional (a b : list term) : bool :=
  match b with
  | nil => is_nil a
  | (c, k, j) :: _ =>
      let m := (first_j a - first_j b)%Z in let c' := coefficient k (j + m) a in
      ((0 <? c * c')%Z && same (scaled c a) (times1 (c', O, m) b))%bool
  end.
Lemma multiple a b c c' m t : (0 < c * c')%Z -> same (scaled c a) (times1 (c', O, m) b) = true -> exists s, 0 < s /\ ev a t = s * ev b t.
Proof.
  intros P H. apply (same_ok _ _ t) in H. rewrite scaled_ok, times1_ok in H.
  assert (V : ev1 (c', O, m) t = IZR c' * exp (-(IZR m * t))) by (unfold ev1; cbn [pow]; ring). rewrite V in H. clear V.
  assert (P' : 0 < IZR c * IZR c') by (rewrite <- mult_IZR; apply IZR_lt; exact P).
  assert (N : IZR c <> 0) by (intros Z; rewrite Z in P'; lra).
  exists (IZR c' / IZR c * exp (-(IZR m * t))). split.
  - apply Rmult_lt_0_compat; [|apply exp_pos].
    replace (IZR c' / IZR c) with ((IZR c * IZR c') * / (IZR c * IZR c)) by (field; exact N).
    apply Rmult_lt_0_compat; [exact P'|]. apply Rinv_0_lt_compat. nra.
  - apply Rmult_eq_reg_l with (IZR c); [|exact N]. rewrite H. field. exact N.
Qed.
Lemma proportional_ok a b t : proportional a b = true -> exists s, 0 < s /\ ev a t = s * ev b t.
Proof.
  destruct b as [|[[c k] j] r]; cbn [proportional].
  - destruct a; [|discriminate]. intros _. exists 1. split; [lra|cbn; ring].
  - cbv zeta. intros H. apply andb_prop in H. destruct H as [P H]. apply Z.ltb_lt in P. exact (multiple _ _ _ _ _ t P H).
Qed.

(* === functions of eps, and their quotients of sums in t = un * eps / ud === *)
Inductive fn := X | C (z : Z) | Add (a b : fn) | Sub (a b : fn) | Mul (a b : fn) | Div (a b : fn) | Neg (a : fn)
  | Pow (a : fn) (n : nat) | Ex (a : fn).
Fixpoint den (e : fn) (x : R) : R :=
  match e with
  | X => x | C z => IZR z | Add a b => den a x + den b x | Sub a b => den a x - den b x | Mul a b => den a x * den b x
  | Div a b => den a x / den b x | Neg a => - den a x | Pow a n => den a x ^ n | Ex a => exp (den a x)
  end.

(* (d, a, b) is the sum a over d times the sum b. *)
Definition quotient := (Z * list term * list term)%type.
Definition value (q : quotient) (t : R) := let '(d, a, b) := q in ev a t / (IZR d * ev b t).
Definition good (q : quotient) (t : R) := let '(d, a, b) := q in IZR d <> 0 /\ ev b t <> 0.

Definition sum_q (p q : quotient) : quotient :=
  let '(d, a, b) := p in let '(d', a', b') := q in
  let g := Z.gcd d d' in let e := (d' / g)%Z in let e' := (d / g)%Z in
  if same b b' then
    if (Z.eqb (e * d) (e' * d') && negb (Z.eqb (e * d) 0))%bool then (e * d, plus_l (scaled e a) (scaled e' a'), b)%Z
    else (d * d', plus_l (scaled d' a) (scaled d a'), b)%Z
  else (d * d', plus_l (scaled d' (times_l a b')) (scaled d (times_l a' b)), times_l b b')%Z.
Definition times_q (p q : quotient) : quotient :=
  let '(d, a, b) := p in let '(d', a', b') := q in (d * d', times_l a a', times_l b b')%Z.

Definition const_of (l : list term) : option Z := match l with [(c, O, Z0)] => Some c | _ => None end.
Definition slope_of (l : list term) : option Z := match l with nil => Some 0%Z | [(c, S O, Z0)] => Some c | _ => None end.
Lemma const_ok l c t : const_of l = Some c -> ev l t = IZR c.
Proof.
  destruct l as [|[[c' [|k]] [|j|j]] [|y r]]; try discriminate. intros H; injection H as ->.
  cbn. rewrite Rmult_0_l, Ropp_0, exp_0. ring.
Qed.
Lemma slope_ok l c t : slope_of l = Some c -> ev l t = IZR c * t.
Proof.
  destruct l as [|[[c' [|[|k]]] [|j|j]] [|y r]]; try discriminate; intros H; injection H as <-; cbn; [ring|].
  rewrite Rmult_0_l, Ropp_0, exp_0. ring.
Qed.

Fixpoint norm (un ud : Z) (e : fn) : option quotient :=
  match e with
  | X => Some (un, [(ud, 1%nat, 0%Z)], one)
  | C z => Some (1%Z, if Z.eqb z 0 then nil else [(z, O, 0%Z)], one)
  | Add a b => match norm un ud a, norm un ud b with Some p, Some q => Some (sum_q p q) | _, _ => None end
  | Sub a b => match norm un ud a, norm un ud b with
      Some p, Some (d, x, y) => Some (sum_q p (d, scaled (-1) x, y)) | _, _ => None end
  | Mul a b => match norm un ud a, norm un ud b with Some p, Some q => Some (times_q p q) | _, _ => None end
  | Div a b => match norm un ud a, norm un ud b with
      | Some (d, x, y), Some (d', x', y') =>
          if (same y' one && negb (Z.eqb d' 0))%bool then
            match const_of x' with Some c => Some (d * c, scaled d' x, y)%Z | None => Some (d, scaled d' x, times_l y x') end
          else None
      | _, _ => None end
  | Neg a => match norm un ud a with Some (d, x, y) => Some (d, scaled (-1) x, y) | None => None end
  | Pow a n => match norm un ud a with
      Some (d, x, y) => if (same y one && Z.eqb d 1)%bool then Some (1%Z, power n x, one)
        else match slope_of x with
          Some c => if same y one then Some ((d ^ Z.of_nat n)%Z, [((c ^ Z.of_nat n)%Z, n, 0%Z)], one) else None | None => None end
      | None => None end
  | Ex a => match norm un ud a with
      | Some (d, x, y) => match slope_of x with
          Some c => if (same y one && (Z.eqb (c / d * d) c && negb (Z.eqb d 0)))%bool then Some (1%Z, [(1%Z, O, (- (c / d))%Z)], one) else None
          | None => None end
      | _ => None end
  end.

Lemma sum_ok p q t : good (sum_q p q) t -> good p t /\ good q t /\ value (sum_q p q) t = value p t + value q t.
Proof.
  destruct p as [[d a] b], q as [[d' a'] b']. unfold sum_q.
  set (e := (d' / Z.gcd d d')%Z). set (e' := (d / Z.gcd d d')%Z).
  destruct (same b b') eqn:S.
  - apply (same_ok b b' t) in S. destruct (Z.eqb_spec (e * d) (e' * d')) as [E|E]; [destruct (Z.eqb_spec (e * d) 0) as [N|N]|]; cbn [andb negb good value]; rewrite ?plus_ok, ?scaled_ok, ?mult_IZR; rewrite <- ?S.
    + intros [D B]. assert (IZR d <> 0 /\ IZR d' <> 0) by (split; intros H; apply D; rewrite H; ring). repeat split; try tauto. field; tauto.
    + intros [D B]. assert (E' : IZR e * IZR d = IZR e' * IZR d') by (rewrite <- !mult_IZR, E; reflexivity).
      assert (N' : IZR e * IZR d <> 0) by exact D.
      assert (IZR e <> 0) by (intros H; apply N'; rewrite H; ring). assert (IZR d <> 0) by (intros H1; apply N'; rewrite H1; ring).
      assert (IZR d' <> 0) by (intros H1; apply N'; rewrite E', H1; ring). assert (IZR e' <> 0) by (intros H2; apply N'; rewrite E', H2; ring).
      repeat split; try assumption.
      transitivity (IZR e * ev a t / (IZR e * IZR d * ev b t) + IZR e' * ev a' t / (IZR e * IZR d * ev b t)); [field; tauto|].
      rewrite E' at 2. field. repeat split; assumption.
    + intros [D B]. assert (IZR d <> 0 /\ IZR d' <> 0) by (split; intros H; apply D; rewrite H; ring). repeat split; try tauto. field; tauto.
  - cbn [good value]. rewrite !plus_ok, !scaled_ok, !times_ok, !mult_IZR. intros [D B].
    assert (IZR d <> 0 /\ IZR d' <> 0) by (split; intros H; apply D; rewrite H; ring).
    assert (ev b t <> 0 /\ ev b' t <> 0) by (split; intros H2; apply B; rewrite H2; ring).
    repeat split; try tauto. field; tauto.
Qed.
Lemma times_q_ok p q t : good (times_q p q) t -> good p t /\ good q t /\ value (times_q p q) t = value p t * value q t.
Proof.
  destruct p as [[d a] b], q as [[d' a'] b']. cbn [times_q good value]. rewrite !times_ok, !mult_IZR. intros [D B].
  assert (IZR d <> 0 /\ IZR d' <> 0) by (split; intros H; apply D; rewrite H; ring).
  assert (ev b t <> 0 /\ ev b' t <> 0) by (split; intros H2; apply B; rewrite H2; ring).
  repeat split; try tauto. field; tauto.
Qed.
Lemma minus_ok d a b t : good (d, a, b) t -> good (d, scaled (-1) a, b) t /\ value (d, scaled (-1) a, b) t = - value (d, a, b) t.
Proof. cbn [good value]. intros [D B]. split; [tauto|]. rewrite scaled_ok. field. tauto. Qed.
Lemma good_minus d a b t : good (d, scaled (-1) a, b) t -> good (d, a, b) t.
Proof. exact (fun H => H). Qed.

Lemma norm_ok un ud t e : IZR un <> 0 ->
  forall q, norm un ud e = Some q -> good q t -> den e (IZR ud * t / IZR un) = value q t.
Proof.
  intros U. induction e as [|z|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IHa|a IHa n|a IHa]; cbn [norm den]; intros q H G.
  - injection H as <-. cbn [value]. rewrite one_ok. cbn. rewrite Rmult_0_l, Ropp_0, exp_0. field. exact U.
  - injection H as <-. cbn [value]. rewrite one_ok. destruct (Z.eqb_spec z 0) as [->|_]; cbn; [field|]. rewrite Rmult_0_l, Ropp_0, exp_0. field.
  - destruct (norm un ud a) as [p|]; [|discriminate]. destruct (norm un ud b) as [r|]; [|discriminate]. injection H as <-.
    destruct (sum_ok _ _ _ G) as (P & R & E). rewrite (IHa p), (IHb r); auto.
  - destruct (norm un ud a) as [p|]; [|discriminate]. destruct (norm un ud b) as [[[d x] y]|]; [|discriminate]. injection H as <-.
    destruct (sum_ok _ _ _ G) as (P & R & E). apply good_minus in R. rewrite (IHa p), (IHb (d, x, y)); auto.
    rewrite E. destruct (minus_ok d x y t R) as [_ M]. rewrite M. ring.
  - destruct (norm un ud a) as [p|]; [|discriminate]. destruct (norm un ud b) as [r|]; [|discriminate]. injection H as <-.
    destruct (times_q_ok _ _ _ G) as (P & R & E). rewrite (IHa p), (IHb r); auto.
  - destruct (norm un ud a) as [[[d x] y]|]; [|discriminate]. destruct (norm un ud b) as [[[d' x'] y']|]; [|discriminate].
    destruct (same y' one) eqn:S; [|discriminate]. apply (same_ok _ _ t) in S. rewrite one_ok in S.
    destruct (Z.eqb_spec d' 0) as [|D']; [discriminate|]. apply not_0_IZR in D'. cbn [andb negb] in H.
    destruct (const_of x') as [c|] eqn:K; injection H as <-; cbn [good value] in *; rewrite ?mult_IZR, ?times_ok in *; destruct G as [D B].
    + apply (const_ok _ _ t) in K. assert (IZR d <> 0 /\ IZR c <> 0) by (split; intros H; apply D; rewrite H; ring).
      rewrite (IHa (d, x, y)) by (auto; cbn; tauto). rewrite (IHb (d', x', y')) by (auto; cbn; rewrite S; lra).
      cbn [value]. rewrite scaled_ok, S, K. field. tauto.
    + assert (ev y t <> 0 /\ ev x' t <> 0) by (split; intros H; apply B; rewrite H; ring).
      rewrite (IHa (d, x, y)) by (auto; cbn; tauto). rewrite (IHb (d', x', y')) by (auto; cbn; rewrite S; lra).
      cbn [value]. rewrite scaled_ok, S. field. tauto.
  - destruct (norm un ud a) as [[[d x] y]|]; [|discriminate]. injection H as <-. apply good_minus in G.
    rewrite (IHa (d, x, y)); auto. destruct (minus_ok d x y t G) as [_ M]. rewrite M. reflexivity.
  - destruct (norm un ud a) as [[[d x] y]|]; [|discriminate].
    destruct (same y one) eqn:S; [apply (same_ok _ _ t) in S; rewrite one_ok in S|destruct (slope_of x); discriminate].
    destruct (Z.eqb_spec d 1) as [->|D1]; cbn [andb] in H.
    + injection H as <-. rewrite (IHa (1%Z, x, y)); auto; [|cbn; rewrite S; lra].
      cbn [value]. rewrite power_ok, one_ok, S. rewrite !Rmult_1_r. unfold Rdiv. rewrite Rinv_1, !Rmult_1_r. reflexivity.
    + destruct (slope_of x) as [c|] eqn:K; [|discriminate]. injection H as <-. apply (slope_ok _ _ t) in K.
      cbn [good value] in *. destruct G as [D _]. rewrite <- pow_IZR in D.
      assert (IZR d <> 0 \/ n = O). { destruct n; [right; reflexivity|left; intros H; apply D; rewrite H; cbn; ring]. }
      rewrite one_ok. cbn [ev]. unfold ev1. rewrite Rmult_0_l, Ropp_0, exp_0, <- !pow_IZR, Rmult_1_r, Rplus_0_r, Rmult_1_r.
      destruct H as [H| ->]; [|cbn; field].
      rewrite (IHa (d, x, y)) by (auto; cbn; rewrite S; lra). cbn [value]. rewrite S, K, Rmult_1_r, <- Rpow_mult_distr.
      unfold Rdiv. rewrite Rpow_mult_distr, <- pow_inv. reflexivity.
  - destruct (norm un ud a) as [[[d x] y]|]; [|discriminate]. destruct (slope_of x) as [c|] eqn:K; [|discriminate].
    destruct (same y one) eqn:S; [apply (same_ok _ _ t) in S; rewrite one_ok in S|discriminate].
    destruct (Z.eqb_spec (c / d * d) c) as [E|]; [|discriminate]. destruct (Z.eqb_spec d 0) as [|D]; [discriminate|]. injection H as <-. apply (slope_ok _ _ t) in K.
    cbn [value]. rewrite one_ok. cbn [ev]. unfold ev1. cbn [pow].
    apply not_0_IZR in D. rewrite (IHa (d, x, y)) by (auto; cbn; rewrite S; lra). cbn [value]. rewrite K, S.
    rewrite <- E at 1. rewrite mult_IZR, opp_IZR.
    replace (IZR (c / d) * IZR d * t / (IZR d * 1)) with (- (- IZR (c / d) * t)) by (field; exact D). field.
Qed.

(* === signs === *)
Fixpoint D (l : list term) : list term :=
  match l with
  | nil => nil
  | (c, k, j) :: r =>
     let r1 := if Z.eqb j 0 then D r else insert (- (c * j), k, j)%Z (D r) in
     match k with O => r1 | S k' => insert (c * Z.of_nat k, k', j)%Z r1 end
  end.
Lemma D_ok l t : is_derive (ev l) t (ev (D l) t).
Proof.
  induction l as [|[[c k] j] r IH].
  - apply is_derive_ext with (fun _ => 0); [reflexivity|]. cbn. apply @is_derive_const.
  - apply is_derive_ext with (fun s => IZR c * s ^ k * exp (-(IZR j * s)) + ev r s); [reflexivity|].
    set (e := exp (-(IZR j * t))).
    assert (G : is_derive (fun s => IZR c * s ^ k * exp (-(IZR j * s)) + ev r s) t
      ((IZR c * INR k * t ^ (pred k) * e - IZR c * IZR j * t ^ k * e) + ev (D r) t)).
    { apply (is_derive_plus (fun s => IZR c * s ^ k * exp (-(IZR j * s))) (ev r)); [|exact IH].
      auto_derive; [exact I|]. fold e. ring. }
    assert (V : (IZR c * INR k * t ^ (pred k) * e - IZR c * IZR j * t ^ k * e) + ev (D r) t = ev (D ((c, k, j) :: r)) t); [|
      exact (eq_ind _ (fun X => is_derive (fun s => IZR c * s ^ k * exp (-(IZR j * s)) + ev r s) t X) G _ V)].
    clear G. cbn [D].
    assert (A : ev (if Z.eqb j 0 then D r else insert (- (c * j), k, j)%Z (D r)) t = - (IZR c * IZR j) * t ^ k * e + ev (D r) t).
    { destruct (Z.eqb_spec j 0) as [->|_]; [ring|]. rewrite insert_ok. unfold ev1. rewrite opp_IZR, mult_IZR. reflexivity. }
    destruct k as [|k'].
    + rewrite A. cbn. ring.
    + rewrite insert_ok, A. unfold ev1. rewrite mult_IZR, <- INR_IZR_INZ. cbn [pred]. fold e. ring.
Qed.

Fixpoint at0 (l : list term) : Z := match l with nil => 0%Z | (c, O, _) :: r => (c + at0 r)%Z | _ :: r => at0 r end.
Lemma at0_ok l : ev l 0 = IZR (at0 l).
Proof.
  induction l as [|[[c k] j] r IH]; [reflexivity|]. cbn [ev at0]. rewrite IH. unfold ev1.
  rewrite Rmult_0_r, Ropp_0, exp_0. destruct k.
  - rewrite plus_IZR. cbn. ring.
  - rewrite pow_i by lia. ring.
Qed.

(* Next to 0: no derivative before the n-th is negative at 0, and the n-th is positive up to b. *)
Lemma rises l a b : (forall t, a < t <= b -> 0 < ev (D l) t) -> 0 <= ev l a -> forall t, a < t <= b -> 0 < ev l t.
Proof.
  intros H A t [T1 T2]. destruct (MVT_cor2 (ev l) (ev (D l)) a t T1) as [c [E C]].
  - intros x _. apply is_derive_Reals, D_ok.
  - assert (0 < ev (D l) c) by (apply H; lra). assert (0 < ev (D l) c * (t - a)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.
Fixpoint Dn (n : nat) l := match n with O => l | S m => Dn m (D l) end.
Fixpoint rises_at0 (n : nat) l := match n with O => true | S m => (Z.leb 0 (at0 l) && rises_at0 m (D l))%bool end.
Lemma ladder n l b : rises_at0 n l = true -> (forall t, 0 < t <= b -> 0 < ev (Dn n l) t) -> forall t, 0 < t <= b -> 0 < ev l t.
Proof.
  revert l; induction n as [|n IH]; intros l Z H; [exact H|]. cbn in Z. apply andb_prop in Z. destruct Z as [Z1 Z2].
  apply rises. { apply IH; assumption. } rewrite at0_ok. apply IZR_le. apply Z.leb_le; exact Z1.
Qed.

(* From B = p/q on: each negative term but c * t^d falls in proportion to t^d. *)
Fixpoint tail (B : R) (l : list term) : R :=
  match l with nil => 0 | (c, k, j) :: r => (if Z.leb 0 c then 0 else IZR c * B ^ k * exp (-(IZR j * B))) + tail B r end.
Fixpoint falls (d : nat) (p q : Z) (l : list term) : bool :=
  match l with
  | nil => true
  | (c, k, j) :: r => ((Z.leb 0 c || (Z.leb 0 j && Z.leb (Z.of_nat k * q) (Z.of_nat d * q + j * p))) && falls d p q r)%bool
  end.
Lemma fall1 (d k : nat) (j s B : R) : 0 <= j -> 0 < B -> 1 <= s -> INR k <= INR d + j * B ->
  s ^ k * exp (-(j * (B * s))) <= s ^ d * exp (-(j * B)).
Proof.
  intros J HB S K.
  assert (H : s ^ k <= s ^ d * exp (j * B * (s - 1))).
  { destruct (Nat.le_gt_cases k d) as [L|L].
    - apply Rle_trans with (s ^ d * 1).
      + rewrite Rmult_1_r. apply Rle_pow; assumption.
      + apply Rmult_le_compat_l; [apply pow_le; lra|].
        assert (0 <= j * B * (s - 1)) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra).
        pose proof (exp_ineq1_le (j * B * (s - 1))). lra.
    - replace k with (d + (k - d))%nat by lia. rewrite pow_add. apply Rmult_le_compat_l; [apply pow_le; lra|].
      set (n := (k - d)%nat). assert (N : INR n <= j * B) by (unfold n; rewrite minus_INR by lia; lra).
      apply Rle_trans with (exp (INR n * (s - 1))).
      + clear N. induction n as [|n IH]; [cbn; rewrite Rmult_0_l, exp_0; lra|].
        rewrite S_INR. replace ((INR n + 1) * (s - 1)) with ((s - 1) + INR n * (s - 1)) by ring. rewrite exp_plus. cbn [pow].
        apply Rmult_le_compat; [lra|apply pow_le; lra| |exact IH].
        pose proof (exp_ineq1_le (s - 1)). lra.
      + assert (E : INR n * (s - 1) <= j * B * (s - 1)) by (apply Rmult_le_compat_r; lra).
        destruct E as [E|E]; [left; apply exp_increasing; exact E|rewrite E; lra]. }
  replace (exp (-(j * B))) with (exp (j * B * (s - 1)) * exp (-(j * (B * s)))) by (rewrite <- exp_plus; f_equal; ring).
  set (e := exp (-(j * (B * s)))).
  rewrite <- (Rmult_assoc (s ^ d)). apply Rmult_le_compat_r; [left; apply exp_pos|exact H].
Qed.
Lemma tail_ok d p q l B t : (0 < q)%Z -> B = IZR p / IZR q -> 0 < B -> B <= t -> falls d p q l = true ->
  (t / B) ^ d * tail B l <= ev l t.
Proof.
  intros Q EB HB T. assert (S : 1 <= t / B) by (apply Rmult_le_reg_r with B; [lra|]; field_simplify; lra).
  assert (P : 0 < (t / B) ^ d) by (apply pow_lt; lra).
  induction l as [|[[c k] j] r IH]; intros F; [cbn; lra|]. cbn [falls tail ev] in *.
  apply andb_prop in F. destruct F as [F1 F2]. specialize (IH F2). rewrite Rmult_plus_distr_l.
  apply Rplus_le_compat; [|exact IH]. unfold ev1.
  destruct (Z.leb_spec 0 c) as [N|N]; cbn [orb] in F1.
  - rewrite Rmult_0_r. apply Rmult_le_pos; [|left; apply exp_pos]. apply Rmult_le_pos; [apply IZR_le; exact N|apply pow_le; lra].
  - apply andb_prop in F1. destruct F1 as [J K]. apply Z.leb_le in J, K.
    assert (K' : INR k <= INR d + IZR j * B).
    { apply IZR_le in K. rewrite plus_IZR, !mult_IZR, <- !INR_IZR_INZ in K. apply IZR_lt in Q.
      apply Rmult_le_reg_r with (IZR q); [lra|]. rewrite EB. field_simplify; lra. }
    pose proof (fall1 d k (IZR j) (t / B) B (IZR_le _ _ J) HB S K') as L.
    replace (B * (t / B)) with t in L by (field; lra).
    apply IZR_lt in N.
    assert (E : t ^ k = B ^ k * (t / B) ^ k) by (rewrite <- Rpow_mult_distr; f_equal; field; lra). rewrite E.
    assert (0 < B ^ k) by (apply pow_lt; lra).
    assert (M : 0 <= (- IZR c * B ^ k) * ((t / B) ^ d * exp (-(IZR j * B)) - (t / B) ^ k * exp (-(IZR j * t)))).
    { apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]. }
    nra.
Qed.
Lemma infinity d p q c0 l B : (0 < q)%Z -> B = IZR p / IZR q -> 0 < B -> falls d p q l = true ->
  0 < IZR c0 * B ^ d + tail B l -> forall t, B <= t -> 0 < ev ((c0, d, 0%Z) :: l) t.
Proof.
  intros Q EB HB F N t T. pose proof (tail_ok d p q l B t Q EB HB T F) as L.
  cbn [ev]. unfold ev1. rewrite Rmult_0_l, Ropp_0, exp_0, Rmult_1_r.
  assert (S : 1 <= t / B) by (apply Rmult_le_reg_r with B; [lra|]; field_simplify; lra).
  assert (P : 0 < (t / B) ^ d) by (apply pow_lt; lra).
  assert (E : t ^ d = B ^ d * (t / B) ^ d) by (rewrite <- Rpow_mult_distr; f_equal; field; lra). rewrite E.
  assert (0 < (t / B) ^ d * (IZR c0 * B ^ d + tail B l)) by (apply Rmult_lt_0_compat; lra). lra.
Qed.

Definition all_positive (l : list term) := (negb (is_nil l) && forallb (fun x => let '(c, _, _) := x in Z.ltb 0 c) l)%bool.
Lemma all_positive_ok l t : all_positive l = true -> 0 < t -> 0 < ev l t.
Proof.
  unfold all_positive. intros H T. apply andb_prop in H. destruct H as [N F].
  assert (G : forall l, forallb (fun x => let '(c, _, _) := x in Z.ltb 0 c) l = true -> 0 <= ev l t /\ (l <> nil -> 0 < ev l t)).
  { clear l N F. induction l as [|[[c k] j] r IH]; intros F; [cbn; split; [lra|tauto]|].
    cbn [forallb] in F. apply andb_prop in F. destruct F as [P F]. destruct (IH F) as [A _]. apply Z.ltb_lt, IZR_lt in P.
    assert (0 < ev1 (c, k, j) t).
    { unfold ev1. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; [exact P|apply pow_lt; exact T]|apply exp_pos]. }
    cbn [ev]. split; [|intros _]; lra. }
  apply G; [exact F|]. destruct l; [discriminate|congruence].
Qed.

(* === products of factors, and what they show === *)
Definition factors := list (list term * nat).
Fixpoint product (f : factors) : list term := match f with nil => one | [(l, n)] => power n l | (l, n) :: r => times_l (power n l) (product r) end.
Fixpoint product_R (f : factors) (t : R) : R := match f with nil => 1 | (l, n) :: r => ev l t ^ n * product_R r t end.
Lemma product_ok f t : ev (product f) t = product_R f t.
Proof.
  induction f as [|[l n] r IH]; [apply one_ok|]. destruct r as [|y r].
  - cbn [product product_R]. rewrite power_ok. ring.
  - change (product ((l, n) :: y :: r)) with (times_l (power n l) (product (y :: r))). rewrite times_ok, power_ok, IH. reflexivity.
Qed.
(* A factor of even power needs no sign, nor does one without a negative coefficient. *)
Fixpoint signs (f : factors) (t : R) : Prop :=
  match f with nil => True | (l, n) :: r => (if (Nat.even n || all_positive l)%bool then True else 0 <= ev l t) /\ signs r t end.
Fixpoint strict_signs (f : factors) (t : R) : Prop :=
  match f with nil => True | (l, n) :: r => (if all_positive l then True else 0 < ev l t) /\ strict_signs r t end.
Lemma signs_ok f t : 0 < t -> signs f t -> 0 <= product_R f t.
Proof.
  intros T. induction f as [|[l n] r IH]; intros S; [cbn; lra|]. destruct S as [A S]. cbn [product_R].
  apply Rmult_le_pos; [|exact (IH S)].
  destruct (Nat.even n) eqn:E; cbn [orb] in A.
  - apply Nat.even_spec in E. destruct E as [k ->]. rewrite pow_mult. apply pow_le. cbn. nra.
  - destruct (all_positive l) eqn:P; [left; apply pow_lt, all_positive_ok; assumption|apply pow_le; exact A].
Qed.
Lemma strict_signs_ok f t : 0 < t -> strict_signs f t -> 0 < product_R f t.
Proof.
  intros T. induction f as [|[l n] r IH]; intros S; [cbn; lra|]. destruct S as [A S]. cbn [product_R].
  apply Rmult_lt_0_compat; [|exact (IH S)]. apply pow_lt.
  destruct (all_positive l) eqn:P; [apply all_positive_ok; assumption|exact A].
Qed.

(* e = a/b as sums; f are the factors of a, or of a * below over b; g are those of b, h those of below. *)
Definition shows (un ud : Z) (e : fn) (f g h : factors) : bool :=
  match norm un ud e with
  | Some (d, a, b) => ((0 <? un) && (0 <? ud) && (0 <? d) && proportional b (product g) &&
      match h with
      | nil => match f with nil => is_nil a | _ => proportional a (product f) end
      | _ => match f with nil => is_nil a | _ => proportional (times_l a (product h)) (times_l (product f) (product g)) end
      end)%Z%bool
  | None => false
  end.
Lemma shows_ok un ud e f g h eps : shows un ud e f g h = true -> 0 < eps ->
  signs f (IZR un / IZR ud * eps) -> strict_signs g (IZR un / IZR ud * eps) -> strict_signs h (IZR un / IZR ud * eps) -> 0 <= den e eps.
Proof.
  unfold shows. destruct (norm un ud e) as [[[d a] b]|] eqn:N; [|discriminate]. intros S E F G H.
  repeat (apply andb_prop in S; destruct S as [S ?]).
  repeat match goal with K : (_ <? _)%Z = true |- _ => apply Z.ltb_lt, IZR_lt in K end.
  set (t := IZR un / IZR ud * eps) in *.
  assert (T : 0 < t) by (apply Rmult_lt_0_compat; [apply Rdiv_lt_0_compat; lra|exact E]).
  assert (X : eps = IZR ud * t / IZR un) by (unfold t; field; lra).
  match goal with K : proportional b _ = true |- _ => destruct (proportional_ok _ _ t K) as (s & S0 & B) end.
  rewrite product_ok in B. apply (strict_signs_ok g t T) in G.
  assert (B0 : 0 < ev b t) by (rewrite B; apply Rmult_lt_0_compat; assumption).
  rewrite X, (norm_ok un ud t e ltac:(lra) (d, a, b) N) by (cbn; split; lra). cbn [value].
  assert (A : 0 <= ev a t).
  { match goal with K : match h with nil => _ | _ => _ end = true |- _ => revert K end.
    apply (strict_signs_ok h t T) in H. apply (signs_ok f t T) in F.
    destruct h as [|h0 h].
    - destruct f as [|f0 f]; [destruct a; [cbn; intros; lra|discriminate]|].
      intros K. destruct (proportional_ok _ _ t K) as (r & R0 & A). rewrite A, product_ok. apply Rmult_le_pos; lra.
    - destruct f as [|f0 f]; [destruct a; [cbn; intros; lra|discriminate]|].
      intros K. destruct (proportional_ok _ _ t K) as (r & R0 & A). rewrite !times_ok, !product_ok in A.
      apply Rmult_le_reg_r with (product_R (h0 :: h) t); [exact H|]. rewrite Rmult_0_l, A.
      apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; lra. }
  unfold Rdiv. apply Rmult_le_pos; [exact A|]. left. apply Rinv_0_lt_compat. apply Rmult_lt_0_compat; assumption.
Qed.

(* === claims: min and max, and cells of eps === *)
Lemma slack p b : 0 <= p + b - 1 -> 1 - b <= p.
Proof. lra. Qed.
Lemma min_ok p a b : 1 - a <= p -> 1 - b <= p -> 1 - Rmin a b <= p.
Proof. unfold Rmin. destruct (Rle_dec a b); lra. Qed.
Lemma max_left p a b : 1 - a <= p -> 1 - Rmax a b <= p.
Proof. pose proof (Rmax_l a b). lra. Qed.
Lemma max_right p a b : 1 - b <= p -> 1 - Rmax a b <= p.
Proof. pose proof (Rmax_r a b). lra. Qed.
Lemma min_left_fails p a b : p < 1 - a -> p < 1 - Rmin a b.
Proof. pose proof (Rmin_l a b). lra. Qed.
Lemma min_right_fails p a b : p < 1 - b -> p < 1 - Rmin a b.
Proof. pose proof (Rmin_r a b). lra. Qed.
Lemma max_fails p a b : p < 1 - a -> p < 1 - b -> p < 1 - Rmax a b.
Proof. unfold Rmax. destruct (Rle_dec a b); lra. Qed.

Ltac sum := match goal with |- context [ev ?l ?t] =>
  let d := eval vm_compute in l in replace l with d by (vm_compute; reflexivity) end; cbn [ev ev1].
Ltac bound t := sum; first
  [ interval with (i_taylor t, i_bisect t, i_prec 50, i_depth 10)
  | interval with (i_taylor t, i_bisect t, i_degree 15, i_prec 100, i_depth 18) ].
Ltac number := first [interval with (i_prec 60) | interval with (i_prec 200) | interval with (i_prec 1000)].
Ltac line := cbn [ev ev1]; rewrite ?Rmult_0_l, ?Ropp_0, ?exp_0; cbn [pow]; lra.

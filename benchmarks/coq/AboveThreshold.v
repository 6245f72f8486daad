(* AboveThreshold with two queries (benchmarks/above_threshold.dip, m = 2), from its syntax tree to its row in the table. *)
Require Import Reals Lra Lia List ZArith FunctionalExtensionality.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
Require Import Prelude Programs.
Import ListNotations.
Open Scope R_scope.

(* rT <- Lap(eps/2, 0);
   r <- Lap(eps/4, q[1]); if r >= rT then out[1] <- top; exit else out[1] <- bot end;
   r <- Lap(eps/4, q[2]); if r >= rT then out[2] <- top; exit else out[2] <- bot end *)
Definition none := 0%nat.
Definition bot := 1%nat.
Definition top := 2%nat.
Definition above_threshold (q1 q2 : R) : program :=
  Laplace (1/2) (Num 0)
    (Laplace (1/4) (Num q1) (IfGe (Var 0) (Var 1)
      (Output 0 top Halt)
      (Output 0 bot (Laplace (1/4) (Num q2) (IfGe (Var 0) (Var 2)
        (Output 1 top Halt)
        (Output 1 bot Halt)))))).

(* The integral over the threshold that is left: q1 <= 0 <= q2. *)
Ltac powers k E x :=
  set (E := exp (k * x)) in *;
  assert (0 < E) by apply exp_pos;
  try replace (exp (2 * k * x)) with (E ^ 2) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- exp_plus; f_equal; ring);
  try replace (exp (3 * k * x)) with (E ^ 3) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- !exp_plus; f_equal; ring);
  try replace (exp (4 * k * x)) with (E ^ 4) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- !exp_plus; f_equal; ring);
  try replace (exp (-(k * x))) with (/ E) by (unfold E; rewrite exp_Ropp; reflexivity);
  try replace (exp (-(2 * k * x))) with (/ E ^ 2) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- exp_plus, <- exp_Ropp; f_equal; ring);
  try replace (exp (-(3 * k * x))) with (/ E ^ 3) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- !exp_plus, <- exp_Ropp; f_equal; ring);
  try replace (exp (-(4 * k * x))) with (/ E ^ 4) by (unfold E; cbn [pow]; rewrite Rmult_1_r, <- !exp_plus, <- exp_Ropp; f_equal; ring).

Lemma threshold k m1 m2 : 0 < k -> m1 <= 0 <= m2 ->
  let A := exp (-(k * m1)) in let B := exp (-(k * m2)) in
  RInt_gen (fun t => lap (2 * k) (t - 0) * (cdf k (t - m1) * (1 - cdf k (t - m2)))) (Rbar_locally m_infty) (Rbar_locally p_infty)
  = 1 - 2/3 / A - 2/3 * B + B / (4 * A) + 1 / (6 * A ^ 2) + B ^ 2 / 6 - B / (48 * A ^ 3) - B ^ 3 / (48 * A).
Proof.
  intros K M A B. apply is_RInt_gen_unique.
  assert (A0 : 0 < A) by apply exp_pos. assert (B0 : 0 < B) by apply exp_pos.
  assert (A' : exp (k * m1) = / A) by (unfold A; rewrite exp_Ropp, Rinv_inv; reflexivity).
  assert (B' : exp (k * m2) = / B) by (unfold B; rewrite exp_Ropp, Rinv_inv; reflexivity).
  set (G1 := fun x => A / 6 * exp (3 * k * x) + - (A * B / 16) * exp (4 * k * x)).
  set (G2 := fun x => (1/2 + B / (8 * A)) * exp (2 * k * x) - 1 / (2 * A) * exp (k * x) - B / 6 * exp (3 * k * x)).
  set (G3 := fun x => - (1/2 + B / (8 * A)) * exp (-(2 * k * x)) + 1 / (6 * A) * exp (-(3 * k * x)) + B / 2 * exp (-(k * x))).
  set (G4 := fun x => - (1 / (6 * B)) * exp (-(3 * k * x)) + 1 / (16 * A * B) * exp (-(4 * k * x))).
  set (f := fun t => lap (2 * k) (t - 0) * (cdf k (t - m1) * (1 - cdf k (t - m2)))).
  assert (C1 : forall x, x < m1 -> k * (A / 2 * exp (3 * k * x) - A * B / 4 * exp (4 * k * x)) = f x).
  { intros x X. unfold f. rewrite lap_neg by lra. unfold cdf.
    destruct (Rle_dec (x - m1) 0); [|lra]. destruct (Rle_dec (x - m2) 0); [|lra].
    rewrite !rising, Rmult_0_r, Ropp_0, exp_0. fold A B. powers k E x. field. }
  assert (C2 : forall x, m1 < x < 0 -> k * (exp (2 * k * x) - exp (k * x) / (2 * A) - B / 2 * exp (3 * k * x) + B / (4 * A) * exp (2 * k * x)) = f x).
  { intros x X. unfold f. rewrite lap_neg by lra. unfold cdf.
    destruct (Rle_dec (x - m1) 0); [lra|]. destruct (Rle_dec (x - m2) 0); [|lra].
    rewrite !rising, falling, Rmult_0_r, Ropp_0, exp_0. rewrite A'. fold B. powers k E x. field. lra. }
  assert (C3 : forall x, 0 < x < m2 -> k * (exp (-(2 * k * x)) - exp (-(3 * k * x)) / (2 * A) - B / 2 * exp (-(k * x)) + B / (4 * A) * exp (-(2 * k * x))) = f x).
  { intros x X. unfold f. rewrite lap_pos by lra. unfold cdf.
    destruct (Rle_dec (x - m1) 0); [lra|]. destruct (Rle_dec (x - m2) 0); [|lra].
    rewrite !rising, !falling, Rmult_0_r, exp_0. rewrite A'. fold B. powers k E x. field. lra. }
  assert (C4 : forall x, m2 < x -> k * (exp (-(3 * k * x)) / (2 * B) - exp (-(4 * k * x)) / (4 * A * B)) = f x).
  { intros x X. unfold f. rewrite lap_pos by lra. unfold cdf.
    destruct (Rle_dec (x - m1) 0); [lra|]. destruct (Rle_dec (x - m2) 0); [lra|].
    rewrite !falling, Rmult_0_r, exp_0. rewrite A', B'. powers k E x. field. lra. }
  match goal with |- is_RInt_gen _ _ _ ?v => replace v with ((G1 m1 - 0) + (G2 0 - G2 m1) + ((G3 m2 - G3 0) + (0 - G4 m2))) end.
  - apply join with 0; try exact _; [apply join with m1|apply join with m2]; try exact _.
    + apply (cell (fun x => k * (A / 2 * exp (3 * k * x) - A * B / 4 * exp (4 * k * x))) f G1); [exact _|exact _| | | | | ].
      * intros. unfold G1. auto_derive; [exact I|]. field.
      * contin.
      * unfold G1. apply lim2; try exact _; apply (lim_m _); lra.
      * apply at_pt.
      * apply in_left, C1.
    + apply (cell (fun x => k * (exp (2 * k * x) - exp (k * x) / (2 * A) - B / 2 * exp (3 * k * x) + B / (4 * A) * exp (2 * k * x))) f G2); [exact _|exact _| | | | | ].
      * intros. unfold G2. auto_derive; [exact I|]. field. lra.
      * contin.
      * apply at_pt.
      * apply at_pt.
      * apply in_mid; [lra|exact C2].
    + apply (cell (fun x => k * (exp (-(2 * k * x)) - exp (-(3 * k * x)) / (2 * A) - B / 2 * exp (-(k * x)) + B / (4 * A) * exp (-(2 * k * x)))) f G3); [exact _|exact _| | | | | ].
      * intros. unfold G3. auto_derive; [exact I|]. field. lra.
      * contin.
      * apply at_pt.
      * apply at_pt.
      * apply in_mid; [lra|exact C3].
    + apply (cell (fun x => k * (exp (-(3 * k * x)) / (2 * B) - exp (-(4 * k * x)) / (4 * A * B))) f G4); [exact _|exact _| | | | | ].
      * intros. unfold G4. auto_derive; [exact I|]. field. lra.
      * contin.
      * apply at_pt.
      * unfold G4. apply lim2; try exact _; apply (lim_p _); lra.
      * apply in_right, C4.
  - unfold G1, G2, G3, G4. rewrite !Rmult_0_r, !Ropp_0, !exp_0.
    powers k E m1. powers k F m2. rewrite A', B' in *. field. lra.
Qed.

Lemma pr_ok eps q1 q2 : 0 < eps -> q1 <= 0 <= q2 ->
  let A := exp (-(eps/4 * q1)) in let B := exp (-(eps/4 * q2)) in
  pr (above_threshold q1 q2) eps [] [none; none] [bot; top]
  = 1 - 2/3 / A - 2/3 * B + B / (4 * A) + 1 / (6 * A ^ 2) + B ^ 2 / 6 - B / (48 * A ^ 3) - B ^ 3 / (48 * A).
Proof.
  intros E Q A B. unfold A, B. pose proof (threshold (eps/4) q1 q2 ltac:(lra) Q) as T. cbv zeta in T. rewrite <- T. clear T.
  cbn [pr above_threshold evaluate nth set_output none bot top]. apply (f_equal (fun f => RInt_gen f (Rbar_locally m_infty) (Rbar_locally p_infty))). apply functional_extensionality. intros t.
  replace (2 * (eps / 4)) with (1 / 2 * eps) by field. f_equal.
  rewrite (compared (1/4 * eps) q1 t) by lra. rewrite (compared (1/4 * eps) q2 t) by lra.
  repeat match goal with |- context [list_eq_dec ?a ?b ?c] => destruct (list_eq_dec a b c); try discriminate; try congruence end.
  replace (1 / 4 * eps) with (eps / 4) by field. match goal with |- ?a = ?b => change (@eq R a b) end. ring.
Qed.

(* What dipc verify --coq writes for this row of the table, -1,1,bot,top. *)
Definition o0_Pr (eps : R) : R :=
  1 - 4/3 * exp (-(eps/4)) + 7/12 * exp (-(eps/2)) - 1/24 * exp (-(eps)).
Definition o0_beta (eps : R) : R :=
  4 * exp (-(eps/8)).
Definition o0_s0_l : list term := [((96), 0%nat, 0); ((-32), 0%nat, 1); ((14), 0%nat, 3); ((-1), 0%nat, 7)]%Z.
Lemma o0_s0_zero : forall t, 0 < t <= 1 -> 0 < ev o0_s0_l t.
Proof. apply (ladder 0); [vm_compute; reflexivity|]. intros t T. bound t. Qed.
Lemma o0_s0_far : forall t, 1 <= t -> 0 < ev o0_s0_l t.
Proof. apply (infinity 0 1 1 (96)%Z [((-32), 0%nat, 1); ((14), 0%nat, 3); ((-1), 0%nat, 7)]%Z); [lia|lra|lra|vm_compute; reflexivity|]. cbv [tail Z.leb Z.compare Pos.compare Pos.compare_cont]. number. Qed.
Lemma o0_s0 : forall t, 0 < t -> 0 < ev o0_s0_l t.
Proof.
  intros t T.
  destruct (Rle_lt_dec t 1); [apply o0_s0_zero; lra|].
  apply o0_s0_far; lra.
Qed.
Lemma o0_0_0_0 : forall eps, 0 < eps -> 0 <= o0_Pr eps + (4 * exp (-(eps/8))) - 1.
Proof.
  intros eps E. apply (shows_ok 1 8 (Sub (Add (Sub (Add (Sub (C 1) (Mul (Div (C 4) (C 3)) (Ex (Neg (Div (X) (C 4)))))) (Mul (Div (C 7) (C 12)) (Ex (Neg (Div (X) (C 2)))))) (Mul (Div (C 1) (C 24)) (Ex (Neg (X))))) (Mul (C 4) (Ex (Neg (Div (X) (C 8)))))) (C 1))
    [([((1), 0%nat, 0)]%Z, 1%nat); ([((96), 0%nat, 0); ((-32), 0%nat, 1); ((14), 0%nat, 3); ((-1), 0%nat, 7)]%Z, 1%nat)]
    []
    []
    eps); [vm_compute; reflexivity|lra|refine (conj I (conj (Rlt_le _ _ (o0_s0 _ _)) I))|refine I|refine I]; lra.
Qed.
Theorem o0 : forall eps, 0 < eps -> 1 - o0_beta eps <= o0_Pr eps.
Proof.
  intros eps E. unfold o0_beta.
  apply slack. apply o0_0_0_0; lra.
Qed.

(* The row of the table, from the program: its right answer has at least this probability, for every eps. *)
Theorem row : forall eps, 0 < eps ->
  1 - 4 * exp (-(eps/8)) <= pr (above_threshold (-1) 1) eps [] [none; none] [bot; top].
Proof.
  intros eps E. rewrite pr_ok by lra. pose proof (o0 eps E) as H. unfold o0_beta, o0_Pr in H.
  replace (-(eps/4 * -1)) with (eps/4) by field. replace (-(eps/4 * 1)) with (-(eps/4)) by field.
  replace (exp (-(eps/2))) with (exp (-(eps/4)) ^ 2) in H by (cbn [pow]; rewrite Rmult_1_r, <- exp_plus; f_equal; field).
  replace (exp (-(eps))) with (exp (-(eps/4)) ^ 4) in H by (cbn [pow]; rewrite Rmult_1_r, <- !exp_plus; f_equal; field).
  replace (exp (eps/4)) with (/ exp (-(eps/4))) by (rewrite <- exp_Ropp; f_equal; ring).
  set (y := exp (-(eps/4))) in *. assert (Y : 0 < y) by apply exp_pos.
  eapply Rle_trans; [exact H|right]. field. lra.
Qed.

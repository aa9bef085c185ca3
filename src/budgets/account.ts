import type { BudgetSubject } from '../schema/budget.ts';
import type { Account, Allowance, BudgetNotice, Payer, Spending, Used } from '../schema/spending.ts';
import type { Batch, Store } from '../store/index.ts';
import { type Amount, type Claim, type Counter, reachedOf, spendOwn } from './counter.ts';
import { rowOf } from './counters.ts';
import { nanoOf } from './money.ts';
import { noteFull, noticeExceeded, noticeReached } from './notices.ts';
import { type Exceeded, LEAST_OUTPUT, type Reserved, reserve, type Timer } from './reservations.ts';

/**
 * The account of one run.
 *
 * Guarantees: what an inference has used is stored in the commit that keeps its step, and in a separate one only if its
 * run has no further commit.
 */
export type RunAccount = Account & {
  /** Adds what the run has spent since its last commit to the commit that keeps it. */
  write(batch: Batch): void;
  /** The run makes no further commits. */
  close(): void;
};

export type AccountDeps = {
  store: Pick<Store, 'budgetCounters' | 'batch' | 'commit'>;
  timer: Timer;
  /** Returns the counters of now that apply. */
  claimsOf(subject: BudgetSubject): readonly Claim[];
  /** Receives each notice; must not throw. */
  observe(notice: BudgetNotice): void;
  /** Called when a separate commit has failed. */
  onCommitFailed(error: unknown): void;
};

export type AccountOptions = {
  payer: Payer;
  /** Whether the commits of the run reach the store. No other run can wait for a budget. */
  isStored: boolean;
  /** Receives the notices that inferences of this run cause. */
  notify(notice: BudgetNotice): void;
};

type Open = AccountDeps & AccountOptions & { readonly spent: Spent; isClosed: boolean };

export const openAccount = (deps: AccountDeps, options: AccountOptions): RunAccount => {
  const open: Open = { ...deps, ...options, spent: new Map(), isClosed: false };
  return {
    reserve: (spending, signal) => allow(open, spending, signal),
    write(batch) {
      if (open.isStored) store(open, batch);
    },
    close() {
      open.isClosed = true;
      storeAlone(open);
    },
  };
};

const allow = (open: Open, spending: Spending, signal: AbortSignal): ReturnType<Account['reserve']> => {
  const { agent, model, input, output, priceOf } = spending;
  const subject = { ...open.payer, agent, model };
  const claims = open.claimsOf(subject);
  if (claims.length === 0) return undefined;
  const isPriced = priceOf({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }) !== undefined;
  const refused = isPriced ? undefined : claims.find(refusesUnpriced);
  if (refused) return { kind: 'unpriced', budget: refused.budget.spec.id };
  const result = reserve(open.timer, {
    claims: () => open.claimsOf(subject),
    ask: { input, output, nanoOf: (tokens) => priceIn(spending, input, tokens) },
    signal,
  });
  const answer = (given: Reserved | Exceeded): Allowance =>
    given.kind === 'reserved' ? grant(open, given) : refuse(open, given, spending);
  return result instanceof Promise ? result.then(answer) : answer(result);
};

/** An observing budget never stops a run. */
const refusesUnpriced = ({ budget: { nano, spec } }: Claim): boolean =>
  nano !== undefined && spec.unpriced === 'refuse' && spec.on_exceeded !== 'observe';

const priceIn = ({ priceOf }: Spending, prompt_tokens: number, completion_tokens: number): number =>
  nanoOf(priceOf({ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }) ?? 0);

const grant = (open: Open, { output, claims, settle }: Reserved): Allowance => {
  let isSettled = false;
  return {
    kind: 'granted',
    output,
    settle({ tokens, usd }: Used) {
      if (isSettled) return;
      isSettled = true;
      const amount = { tokens, nano: usd === undefined ? 0 : nanoOf(usd) };
      const own = settle(amount);
      for (const [index, { counter }] of claims.entries())
        add(open.spent, counter, { ...amount, own: own[index] });
      for (const claim of claims) noticeReached(claim, (notice) => report(open, notice));
      if (open.isClosed) storeAlone(open);
    },
  };
};

const refuse = (open: Open, { claim, unit }: Exceeded, spending: Spending): Allowance => {
  noteFull(claim, unit, { tokens: LEAST_OUTPUT, nano: priceIn(spending, 0, LEAST_OUTPUT) });
  noticeExceeded(claim, unit, (notice) => report(open, notice));
  const { id, on_exceeded } = claim.budget.spec;
  const waits = open.isStored && on_exceeded === 'pause';
  return { kind: 'exceeded', budget: id, ...(waits && { pause: reachedOf(claim, unit) }) };
};

const report = ({ observe, notify }: Open, notice: BudgetNotice): void => {
  observe(notice);
  notify(notice);
};

/** Amounts since the last commit. `own`: the part that was added to the limit for this run only. */
type Spent = Map<Counter, Amount & { own: Amount | undefined }>;

const add = (spent: Spent, counter: Counter, amount: Amount & { own: Amount | undefined }): void => {
  const before = spent.get(counter);
  spent.set(counter, { ...sum(amount, before), own: amount.own && sum(amount.own, before?.own) });
};

const sum = ({ tokens, nano }: Amount, other: Amount | undefined): Amount => ({
  tokens: tokens + (other?.tokens ?? 0),
  nano: nano + (other?.nano ?? 0),
});

const store = ({ spent, payer, timer, store: { budgetCounters } }: Open, batch: Batch): void => {
  for (const [counter, amount] of spent) {
    counter.stored.tokens += amount.tokens;
    counter.stored.nano += amount.nano;
    if (amount.own) spendOwn(counter.storedAdded, payer.run, amount.own);
    budgetCounters.put(batch, rowOf(counter, timer.now()));
  }
  spent.clear();
};

const storeAlone = (open: Open): void => {
  if (open.spent.size === 0) return;
  const batch = open.store.batch('commons');
  store(open, batch);
  open.store.commit(batch).catch(open.onCommitFailed);
};

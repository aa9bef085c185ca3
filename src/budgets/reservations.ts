import type { BudgetUnit } from '../schema/budget.ts';
import { type Amount, type Claim, type Counter, charge, excessOf, hold, isBlocking } from './counter.ts';

/**
 * Reservations: before an inference, its greatest cost is reserved in every counter that applies to it; afterwards the
 * actual cost replaces the reservation.
 *
 * Guarantees: a reservation is made in all counters in one event-loop tick, or in none. A counter exceeds its limit only
 * by what an inference costs beyond its reservation, whatever the concurrency. Requests that wait for a counter are
 * served in the order of their arrival, each for at most `MOST_WAIT_MS`.
 * Relies on: every reservation is settled once.
 * Cost: a request that fits allocates no promise.
 */

/** The most that an inference may use. `nanoOf` returns the price of its input with this many tokens of output. */
export type Ask = { input: number; output: number; nanoOf(output: number): number };

export type Reserved = {
  kind: 'reserved';
  claims: readonly Claim[];
  /** Tokens of output, which may be fewer than requested. */
  output: number;
  /**
   * Replaces the reservation by the actual cost; further calls have no effect. Returns, for each claim, the part that
   * was added to the limit for this run only.
   */
  settle(used: Amount): readonly Amount[];
};

export type Exceeded = { kind: 'exceeded'; claim: Claim; unit: BudgetUnit };

export type Timer = {
  now(): number;
  /** Calls back after the time; the returned function cancels that. */
  after(ms: number, callback: () => void): () => void;
};

export type Reserving = {
  /** Returns the counters of now: a window may end while the request waits. */
  claims(): readonly Claim[];
  ask: Ask;
  /** A cancelled request is answered as if it fit; its inference does not start. */
  signal: AbortSignal;
};

export const MOST_WAIT_MS = 30_000;

/** The fewest tokens of output that an inference is worth. */
export const LEAST_OUTPUT = 256;

export const reserve = (
  timer: Timer,
  reserving: Reserving,
): Reserved | Exceeded | Promise<Reserved | Exceeded> => {
  const claims = reserving.claims();
  const queue = claims.find((claim) => isBlocking(claim) && claim.counter.waiting.size > 0);
  const tried = queue
    ? { kind: 'waits' as const, counter: queue.counter }
    : attempt(claims, reserving.ask, true);
  return tried.kind === 'waits' ? wait(timer, reserving, tried.counter) : tried;
};

/** Tries the waiting requests of a counter again, for example after a change of its limit. */
export const retryWaiting = ({ waiting }: Counter): void => {
  for (const retry of [...waiting]) retry();
};

const wait = (
  timer: Timer,
  { claims, ask, signal }: Reserving,
  first: Counter,
): Promise<Reserved | Exceeded> =>
  new Promise((resolve) => {
    const endsAt = timer.now() + MOST_WAIT_MS;
    let counter = first;
    let isPatient = true;
    let cancelTimer = (): void => {};
    const leave = (): void => {
      cancelTimer();
      counter.waiting.delete(retry);
    };
    const join = (next: Counter): void => {
      counter = next;
      counter.waiting.add(retry);
      startTimer();
    };
    const startTimer = (): void => {
      const until = Math.min(endsAt, counter.to ?? endsAt);
      cancelTimer = timer.after(Math.max(0, until - timer.now()), () => {
        if (until === endsAt) isPatient = false;
        if (retry()) serve(counter);
        else if (counter.waiting.has(retry)) startTimer();
      });
    };
    const end = (result: Reserved | Exceeded): void => {
      leave();
      signal.removeEventListener('abort', abort);
      resolve(result);
    };
    const abort = (): void => {
      end(take([], ask.output, ask));
      serve(counter);
    };
    const retry = (): boolean => {
      const tried = attempt(claims(), ask, isPatient);
      if (tried.kind === 'waits' && tried.counter === counter) return false;
      if (tried.kind !== 'waits') end(tried);
      else {
        leave();
        join(tried.counter);
      }
      return true;
    };
    signal.addEventListener('abort', abort, { once: true });
    join(first);
    if (signal.aborted) abort();
  });

/** Serves waiting requests in their order, up to the first one that has to wait longer. */
const serve = ({ waiting }: Counter): void => {
  for (;;) {
    const [next] = waiting;
    if (!next?.()) return;
  }
};

type Waits = { kind: 'waits'; counter: Counter };

/** @param patient whether a reservation of another inference may be waited for */
const attempt = (claims: readonly Claim[], ask: Ask, patient: boolean): Reserved | Exceeded | Waits => {
  const blocking = claims.filter(isBlocking);
  const full = amountOf(ask, ask.output);
  const short = blocking.filter((claim) => excessOf(claim, full) !== undefined);
  if (short.length === 0) return take(claims, ask.output, ask);
  const final = patient ? short.filter(({ counter }) => counter.holders === 0) : short;
  const output = largestOutput(final, ask);
  if (typeof output !== 'number') return output;
  const lowered = amountOf(ask, output);
  const held = short.find((claim) => excessOf(claim, lowered) !== undefined);
  return held ? { kind: 'waits', counter: held.counter } : take(claims, output, ask);
};

/** Returns the largest output that fits all counters. */
const largestOutput = (claims: readonly Claim[], ask: Ask): number | Exceeded => {
  const fits = (output: number): boolean => {
    const amount = amountOf(ask, output);
    return claims.every((claim) => excessOf(claim, amount) === undefined);
  };
  let low = Math.min(LEAST_OUTPUT, ask.output);
  const least = amountOf(ask, low);
  for (const claim of claims) {
    const unit = excessOf(claim, least);
    if (unit) return { kind: 'exceeded', claim, unit };
  }
  let high = ask.output;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
};

const amountOf = ({ input, nanoOf }: Ask, output: number): Amount => ({
  tokens: input + output,
  nano: nanoOf(output),
});

const take = (claims: readonly Claim[], output: number, ask: Ask): Reserved => {
  const amount = amountOf(ask, output);
  for (const { counter } of claims) {
    hold(counter, amount, 1);
    counter.holders += 1;
  }
  let isSettled = false;
  return {
    kind: 'reserved',
    claims,
    output,
    settle(used) {
      if (isSettled) return [];
      isSettled = true;
      const own = claims.map((claim) => {
        hold(claim.counter, amount, -1);
        claim.counter.holders -= 1;
        return charge(claim, used);
      });
      for (const { counter } of claims) serve(counter);
      return own;
    },
  };
};

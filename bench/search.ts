/**
 * Searches the largest load that a server can handle: doubles the load until it fails, then bisects between the last
 * success and the first failure.
 */
export type SearchOptions<Step> = {
  attempt(load: number): Promise<Step>;
  holds(step: Step): boolean;
  from: number;
  most: number;
  halvings: number;
};

export type Found<Step> = { best: { load: number; step: Step } | undefined; steps: Step[] };

/** A second attempt, because a pause of the host must not count against the server. */
const TRIES = 2;

export async function searchMost<Step>(options: SearchOptions<Step>): Promise<Found<Step>> {
  const { attempt, holds, from, most, halvings } = options;
  const steps: Step[] = [];
  let best: Found<Step>['best'];
  let tooMuch = Number.POSITIVE_INFINITY;
  const attemptTwice = async (load: number): Promise<void> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const step = await attempt(load);
      steps.push(step);
      if (!holds(step)) continue;
      best = { load, step };
      return;
    }
    tooMuch = load;
  };
  for (let load = from; load < tooMuch && load <= most; load *= 2) await attemptTwice(load);
  for (let halving = 0; halving < halvings && tooMuch <= most; halving += 1) {
    await attemptTwice(Math.round((tooMuch + (best?.load ?? 0)) / 2));
  }
  return { best, steps };
}

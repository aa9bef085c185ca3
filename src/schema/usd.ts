/** Adds known costs; undefined if none is known, because 0 means that prices are known and are 0. */
export const addUsd = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** Returns the cost of an eval report: the replay and its judgements. */
export const spentUsd = (report: {
  cost_usd?: number | undefined;
  judge_cost_usd?: number | undefined;
}): number | undefined => addUsd(report.cost_usd, report.judge_cost_usd);

/** Upper bounds of histograms in seconds (evals-and-traces.md 11). */

export const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
export const inferences = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
export const runs = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

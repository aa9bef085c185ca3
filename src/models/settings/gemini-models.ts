/** Models before 2.5 reject `thinkingConfig`. */
export const thinksGemini = (upstream: string): boolean => !/gemini-(1|2\.0)/.test(upstream);

export const alwaysThinksGemini = (upstream: string): boolean =>
  /gemini-(2\.5|[3-9](\.\d+)?)-pro/.test(upstream);

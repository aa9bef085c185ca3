import { SettingsError } from '../../src/settings/index.ts';

/** The problems that prevent a start, or none if it starts. */
export const problemsOf = (start: () => unknown): readonly string[] => {
  try {
    start();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

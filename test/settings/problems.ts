import { SettingsError } from '../../src/settings.ts';

/** The problems that stop a start; none if it starts. */
export const problemsOf = (start: () => unknown): readonly string[] => {
  try {
    start();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

import { SettingsError } from '../../src/settings/index.ts';

/** The problems that prevent a start, or none if it starts. */
export const problemsOf = async (start: () => unknown): Promise<readonly string[]> => {
  try {
    await start();
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};

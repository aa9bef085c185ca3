import { hasThreads } from '../store/folder-export.ts';
import type { Database } from './database.ts';
import { DatabaseRefused } from './errors.ts';

/**
 * Prevents a start that would show none of the data of the process: the data directory has threads, and the schema has
 * no rows. Call before the first commit.
 *
 * @throws DatabaseRefused with the command that copies the data
 */
export const refuseUnseenData = async (database: Pick<Database, 'isEmpty'>, dir: string): Promise<void> => {
  if (!(await hasThreads(dir)) || !(await database.isEmpty())) return;
  throw new DatabaseRefused(
    `the data of ${dir} would not be seen: run "troupe copy ${dir} $SERVICE_DATABASE_URL", or set SERVICE_STORAGE_DIR elsewhere`,
  );
};

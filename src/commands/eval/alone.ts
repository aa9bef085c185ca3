import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createLog } from '../../observability/log.ts';
import { createScratchFolder } from '../../processes/scratch-folder.ts';
import type { Fixture } from '../../schema/dataset.ts';
import { settingsFrom } from '../../settings/index.ts';
import { connectAdmin } from '../admin-client.ts';
import { connectEvals, type EvalService } from './service.ts';

/** Starts a temporary service for the given fixtures, and removes its data afterwards. */

const DATASET = 'folder';

/** The only client is this command. */
const LARGEST_BODY = 2 ** 30;

export const withService = async <Result>(
  fixtures: readonly Fixture[],
  work: (service: EvalService, dataset: string) => Promise<Result>,
): Promise<Result> => {
  const { startApp } = await import('../../app.ts');
  const { dir, remove } = await createScratchFolder('eval');
  const token = randomBytes(24).toString('base64url');
  const settings = settingsFrom({
    http_addr: '127.0.0.1:0',
    storage_dir: dir,
    durability: 'process',
    shutdown_timeout_ms: 0,
    AdminApiConfig: { bearer_token: token },
    eval_body_limit_bytes: LARGEST_BODY,
    eval_limits: { max_cells_per_async_run: fixtures.length },
  });
  try {
    const app = await startApp({ settings, log: createLog({ level: 'silent' }) });
    try {
      const connection = { url: app.url, token };
      const body = { id: DATASET, spec: { fixtures } };
      await connectAdmin(connection).ask('POST', ['v1', 'eval', 'datasets'], { body, schema: z.unknown() });
      return await work(connectEvals(connection), DATASET);
    } finally {
      await app.stop();
    }
  } finally {
    await remove();
  }
};

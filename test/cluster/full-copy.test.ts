import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { openCopy } from '../../src/store/copy.ts';
import type { RowContent } from '../../src/store/engine/sink.ts';
import { SHIPPED } from '../../src/store/kinds.ts';
import { createMemorySink } from '../store/memory-sink.ts';
import { mountSmallDisk, NO_SMALL_DISK } from './small-disk.ts';

/** A copy whose disk is full while it is loaded (cluster.md 19.3, check 28). */

const DRAFTS = SHIPPED.find(({ table }) => table === 'agent_drafts')?.number ?? 0;

async function* rowsOf(count: number): AsyncGenerator<readonly RowContent[]> {
  for (let number = 0; number < count; number += 1) {
    const value = JSON.stringify(randomBytes(750_000).toString('base64'));
    yield [{ kind: DRAFTS, key: JSON.stringify([`draft${number}`]), value }];
  }
}

t.test('a copy that the disk has no space for', { skip: NO_SMALL_DISK }, async (t) => {
  const rejections: unknown[] = [];
  const note = (error: unknown): void => void rejections.push(error);
  process.on('unhandledRejection', note);
  t.teardown(() => process.off('unhandledRejection', note));
  const dir = join(mountSmallDisk(t).folder, 'copy');
  const open = (count: number) =>
    openCopy({
      ...{ dir, durability: 'process', sink: createMemorySink(), rows: rowsOf(count) },
      copyBroken: (error) => t.fail(error.message),
    });
  await t.rejects(open(64), 'the load fails');
  await pause(200);
  t.strictSame(rejections, [], 'the failure is reported once');
  const copy = await open(3);
  await copy.close();
});

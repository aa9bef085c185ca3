import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { FORMAT } from '../../src/store/format.ts';
import { backupFolder } from '../../src/store/index.ts';
import { fill } from './fill.ts';
import { startPlace } from './place.ts';
import { readAll } from './read.ts';

/**
 * Writes down a data folder as this version has it, for later versions to open: `npm run fixture`, once for a format,
 * before the version that has it is released. A later version cannot make it again.
 */

const folder = fileURLToPath(new URL(`./format-${FORMAT.version}`, import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'troupe-fixture-'));

const made = join(dir, 'made');
const first = await startPlace({ dir: made, now: Date.now(), lifecycle: 'auto' });
await fill(first);
// While runs execute: as a crash leaves it.
await backupFolder(made, join(dir, 'kept'));
await first.stop();

mkdirSync(folder, { recursive: true });
const data = readFileSync(join(dir, 'kept', 'data.mdb'));
writeFileSync(join(folder, 'data.mdb.gz'), gzipSync(data, { level: 9 }));

const now = Date.now();
// What was written is read once by the version that wrote it, which takes nothing up.
const second = await startPlace({ dir: join(dir, 'kept'), now, lifecycle: 'manual' });
const answers = await readAll(second);
await second.stop();
writeFileSync(join(folder, 'answers.json.gz'), gzipSync(JSON.stringify({ now, answers }), { level: 9 }));
rmSync(dir, { recursive: true });

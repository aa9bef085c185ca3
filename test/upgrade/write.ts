import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { backupFolder } from '../../src/store/index.ts';
import { FORMAT } from '../../src/store/repair/format.ts';
import { fill } from './fill.ts';
import { startPlace } from './place.ts';
import { readAll } from './read.ts';

/**
 * Writes a data directory with this version, for later versions to open: `npm run fixture`, once per format, before the
 * version with that format is released. A later version cannot write it.
 */

const folder = fileURLToPath(new URL(`./format-${FORMAT.version}`, import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'troupe-fixture-'));

const made = join(dir, 'made');
const first = await startPlace({ dir: made, now: Date.now(), lifecycle: 'auto' });
await fill(first);
// While runs execute, as after a crash.
await backupFolder(made, join(dir, 'kept'));
await first.stop();

mkdirSync(folder, { recursive: true });
const data = readFileSync(join(dir, 'kept', 'data.mdb'));
writeFileSync(join(folder, 'data.mdb.gz'), gzipSync(data, { level: 9 }));

const now = Date.now();
// Reads the data once with the version that wrote it, which resumes no work.
const second = await startPlace({ dir: join(dir, 'kept'), now, lifecycle: 'manual' });
const answers = await readAll(second);
await second.stop();
writeFileSync(join(folder, 'answers.json.gz'), gzipSync(JSON.stringify({ now, answers }), { level: 9 }));
rmSync(dir, { recursive: true });

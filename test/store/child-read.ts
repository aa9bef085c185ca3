import { openPrivate } from '../../src/store/engine/environment.ts';

/** Occupies a reader slot of the data directory, as a backup does. */
const [dir = ''] = process.argv.slice(2);
const root = openPrivate({ path: dir, noSubdir: false, readOnly: true });
root.get('any');
process.stdout.write('reads\n');
setInterval(() => {}, 60_000);

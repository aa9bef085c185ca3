import { openStore } from '../../src/store/index.ts';

/** Opens the data directory and keeps it open. */
const [dir = ''] = process.argv.slice(2);
await openStore({ dir, durability: 'process' });
process.stdout.write('open\n');
setInterval(() => {}, 60_000);

import { examine } from '../../src/store/index.ts';

/** Checks the folder that its argument names, and prints the findings. */

const { findings, rows } = await examine({ dir: process.argv[2] ?? '' });
process.stdout.write(`${JSON.stringify({ findings, rows })}\n`);

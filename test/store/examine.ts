import { examine } from '../../src/store/index.ts';

/** Checks the directory in its argument, and prints the findings. */

const { findings, rows } = await examine({ dir: process.argv[2] ?? '' });
process.stdout.write(`${JSON.stringify({ findings, rows })}\n`);

import { pathToFileURL } from 'node:url';
import type { Context } from '../benchmark.ts';
import { programFile } from '../program.ts';
import type { Question } from '../programs/inspected.ts';
import type { Server, TroupeOptions } from '../servers.ts';

/** Flags of a Troupe that reports data of V8. */
export const inspectedFlags = ({ build }: Context): TroupeOptions => ({
  nodeArguments: [`--import=${pathToFileURL(programFile(build, 'inspected')).href}`],
});

/** The type of the response is that of the question in `programs/inspected.ts`. */
export const inspect = ({ process }: Server, question: Question): Promise<unknown> => process.ask(question);

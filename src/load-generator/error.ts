import { Invalid } from '../schema/outcome.ts';

/** A load that cannot run; the message is for the person who started it. */
export class LoadError extends Invalid {}

/** The load generator behind `troupe bench`. */
export { LoadError } from './error.ts';
export { createRunBody, LoadOptions, type OnEvents, parseDuration, type Sample } from './options.ts';
export { formatReport, type LoadReport } from './report.ts';
export { runLoad } from './run.ts';

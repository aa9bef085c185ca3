/** The load generator behind `troupe bench`. */
export { LoadError } from './error.ts';
export { LoadOptions, type OnEvents, parseDuration, runOf, type Sample } from './options.ts';
export { formatReport, type LoadReport } from './report.ts';
export { runLoad } from './run.ts';

/** The YAML parser, which is large: modules import this file when they parse the first text. */
export { LineCounter, parseDocument } from 'yaml';

export { digestOfCall } from '../schema/call-digest.ts';
export type { Json } from '../schema/json.ts';

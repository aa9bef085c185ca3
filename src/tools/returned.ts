import { type Json, type Suspension, ToolError, type ToolOutput } from './tool.ts';

/** Converts return values of tools to `ToolOutput` or `Suspension`. */

/** Becomes the `data` of an output after JSON serialization: dates are text, and undefined is `null`. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly unknown[]
  | { readonly [key: string]: unknown };

const OUTPUT: Record<keyof ToolOutput, true> = {
  data: true,
  message: true,
  content: true,
  metadata: true,
  state: true,
  parts: true,
  actions: true,
};

/** An object with `data` is an output unless it has other keys than those of outputs. */
const isOutput = (value: object): value is ToolOutput =>
  Object.hasOwn(value, 'data') && Object.keys(value).every((key) => Object.hasOwn(OUTPUT, key));

const isSuspension = (value: object): value is Suspension =>
  Object.hasOwn(value, 'suspend') && Object.keys(value).length === 1;

/** @throws ToolError for a value that JSON cannot express */
export const outputOf = (returned: ToolOutput | Suspension | PlainValue): ToolOutput | Suspension => {
  if (typeof returned === 'object' && returned !== null) {
    if (isOutput(returned) || isSuspension(returned)) return returned;
  }
  return { data: asJson(returned) };
};

const asJson = (value: unknown): Json => {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError('internal', `the tool returned a value that is not JSON: ${why}`, { cause });
  }
};

import { type Json, type Suspension, ToolError, type ToolOutput } from './tool.ts';

/** What tools return, as the one form that the rest of the service knows. */

/** Taken as the `data` of an output, as JSON has it: dates are text, and nothing is `null`. */
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

/** An object with `data` is an output unless it has a key that no output has. */
const isOutput = (value: object): value is ToolOutput =>
  Object.hasOwn(value, 'data') && Object.keys(value).every((key) => Object.hasOwn(OUTPUT, key));

const isSuspension = (value: object): value is Suspension =>
  Object.hasOwn(value, 'suspend') && Object.keys(value).length === 1;

/** @throws ToolError for what is not JSON */
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
    throw new ToolError('internal', `the tool returned what is not JSON: ${why}`, { cause });
  }
};

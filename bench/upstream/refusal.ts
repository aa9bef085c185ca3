import type { z } from 'zod';

/** An error response of the upstream, with the status and the message of the service that it imitates. */
export class Refusal extends Error {
  readonly status: number;
  readonly kind: string;

  constructor(status: number, kind: string, message: string) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** @throws Refusal that names the first missing or invalid field */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
  kind: string,
): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new Refusal(400, kind, `${path === '' ? '' : `${path}: `}${issue?.message ?? 'invalid request'}`);
}

/** @throws Refusal for a tool call of the history without a result, or a result without a call */
export function checkResults(calls: readonly string[], results: readonly string[], kind: string): void {
  const missing = calls.find((id) => !results.includes(id));
  if (missing !== undefined) throw new Refusal(400, kind, `No tool output found for tool call ${missing}.`);
  const foreign = results.find((id) => !calls.includes(id));
  if (foreign !== undefined) throw new Refusal(400, kind, `No tool call found for tool output ${foreign}.`);
}

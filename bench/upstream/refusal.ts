import type { z } from 'zod';

/** An error response of the upstream, with the status and the words of the service that it stands for. */
export class Refusal extends Error {
  readonly status: number;
  readonly kind: string;

  constructor(status: number, kind: string, message: string) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** @throws Refusal that names the first field that is missing or wrong */
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

/** @throws Refusal when a tool call of the history has no result, or a result no call */
export function checkResults(calls: readonly string[], results: readonly string[], kind: string): void {
  const missing = calls.find((id) => !results.includes(id));
  if (missing !== undefined) throw new Refusal(400, kind, `No tool output found for tool call ${missing}.`);
  const foreign = results.find((id) => !calls.includes(id));
  if (foreign !== undefined) throw new Refusal(400, kind, `No tool call found for tool output ${foreign}.`);
}

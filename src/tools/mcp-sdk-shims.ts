import process from 'node:process';
import type { AnySchemaObject } from 'ajv';
import { createAjv } from './ajv.ts';

/**
 * Replaces `@modelcontextprotocol/client/_shims` and `@modelcontextprotocol/server/_shims` in bundles
 * (`.build/programs.ts`). The originals each include a copy of ajv, which matches patterns of a peer's schemas in
 * exponential time.
 */

export const CORS_IS_POSSIBLE = false;

export { process };

type Validated =
  | { valid: true; data: unknown; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string };

/** The SDK's default validator for tool results and form responses. */
export class DefaultJsonSchemaValidator {
  getValidator(schema: AnySchemaObject): (input: unknown) => Validated {
    const ajv = createAjv(schema);
    const validate = ajv.compile(schema);
    return (input) =>
      validate(input)
        ? { valid: true, data: input, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: ajv.errorsText(validate.errors) };
  }
}

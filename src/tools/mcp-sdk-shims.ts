import process from 'node:process';
import type { AnySchemaObject } from 'ajv';
import { createAjv } from './ajv.ts';

/**
 * Takes the place of `@modelcontextprotocol/client/_shims` and `@modelcontextprotocol/server/_shims` in bundles
 * (`.build/programs.ts`). The originals bring a copy of ajv each, which searches patterns of a peer's schemas in
 * exponential time.
 */

export const CORS_IS_POSSIBLE = false;

export { process };

type Validated =
  | { valid: true; data: unknown; errorMessage: undefined }
  | { valid: false; data: undefined; errorMessage: string };

/** What the SDK validates results of tools and answers of forms with, unless it is given another. */
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

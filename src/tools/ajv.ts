import { Ajv, type AnySchemaObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileExpression } from '../schema/regex.ts';

/** An instance keeps every schema and every `$id` that it has compiled, so each schema gets an instance. */
export const createAjv = ({ $schema }: AnySchemaObject): Ajv | Ajv2020 =>
  typeof $schema === 'string' && /draft-0[4-7]/.test($schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);

const linearPattern = Object.assign(
  (pattern: string) => {
    const compiled = compileExpression(pattern);
    if (compiled instanceof Error) throw compiled;
    // ajv caches the compiled patterns of a schema by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  },
  { code: 'linearPattern' },
);

const OPTIONS: Options = {
  allErrors: true,
  // Unknown keywords are annotations; known ones are validated.
  strict: false,
  validateSchema: false,
  meta: false,
  validateFormats: false,
  // Inherited properties do not satisfy `{"required": ["constructor"]}`.
  ownProperties: true,
  logger: false,
  code: { regExp: linearPattern },
};

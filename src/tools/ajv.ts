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
    // ajv tells the patterns of a schema apart by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  },
  { code: 'linearPattern' },
);

const OPTIONS: Options = {
  allErrors: true,
  // Keywords that are not known are notes; those that are have to be right.
  strict: false,
  validateSchema: false,
  meta: false,
  validateFormats: false,
  // `{"required": ["constructor"]}` is not met by what every object inherits.
  ownProperties: true,
  logger: false,
  code: { regExp: linearPattern },
};

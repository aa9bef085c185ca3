import { Ajv, type AnySchemaObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileExpression } from '../schema/regex.ts';

/** An instance retains every schema and `$id` that it compiled, so each schema gets a separate instance. */
export const createAjv = ({ $schema }: AnySchemaObject): Ajv | Ajv2020 =>
  typeof $schema === 'string' && /draft-0[4-7]/.test($schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);

/**
 * For structured results. `count` is called for each application of a schema that has the keyword, with the value of
 * the keyword, the validated value, and the schema.
 */
export const createOutputAjv = ({
  keyword,
  count,
  allErrors,
  tracksEvaluated,
}: {
  keyword: string;
  count(fixed: number, value: unknown, schema: unknown): boolean;
  allErrors: boolean;
  /** True if the schema has `unevaluatedProperties` or `unevaluatedItems`. */
  tracksEvaluated: boolean;
}): Ajv2020 => {
  // Inlined references and optimized code would cost more time than the validation itself.
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors,
    inlineRefs: false,
    code: { ...OPTIONS.code, optimize: false },
  });
  // Alternatives after the first match are applied only if a schema depends on the properties and items they evaluate.
  ajv.opts.unevaluated = tracksEvaluated;
  return ajv.addKeyword({ keyword, validate: count, errors: false });
};

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
  // Inherited properties must not satisfy `{"required": ["constructor"]}`.
  ownProperties: true,
  logger: false,
  code: { regExp: linearPattern },
};

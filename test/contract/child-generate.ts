import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { generateSource } from 'oazapfts';
import openapiTS, { astToString } from 'openapi-typescript';

/**
 * Does with an OpenAPI document what its readers do: checks it by a public set of rules, and makes clients of it with
 * two public generators. Prints what the rules say, as JSON.
 */

const [file = '', folder = ''] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');

const generate = async (): Promise<void> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // Paths of A2A, which has a tenant where other routes have a name.
      'no-ambiguous-paths': 'off',
      'operation-description': 'error',
      'operation-operationId': 'error',
      'operation-tag-defined': 'error',
      'parameter-description': 'error',
      'tag-description': 'error',
    },
  });
  const problems = await lintFromString({ source: text, config });
  const said = problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} (${location[0]?.pointer ?? ''})`,
  );
  process.stdout.write(JSON.stringify(said));

  writeFileSync(join(folder, 'types.ts'), astToString(await openapiTS(text)));
  writeFileSync(join(folder, 'client.ts'), await generateSource(file));
};

generate();

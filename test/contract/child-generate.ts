import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { generateSource } from 'oazapfts';
import openapiTS, { astToString } from 'openapi-typescript';

/**
 * Processes an OpenAPI document as its readers do: checks it with a public set of rules, and generates clients with two
 * public generators. Prints the result of the rules as JSON.
 */

const [file = '', folder = ''] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');

const generate = async (): Promise<void> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // A2A has paths with a tenant where other routes have a name.
      'no-ambiguous-paths': 'off',
      // A sign-in only redirects; `service/openapi` requires a success or a redirect of every route.
      'operation-2xx-response': 'off',
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

import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import t from 'tap';
import { type Bundled, createSbom } from '../../.build/sbom.ts';

/** The bill of materials is valid by the schema of CycloneDX for any bundled packages. */

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);

const problemsIn = async (sbom: object): Promise<unknown> => validator.validate(JSON.stringify(sbom));

const bundled = (name: string, license: string): Bundled => ({
  name,
  version: '1.2.3',
  license,
  author: undefined,
  text: 'The text',
});

const PRODUCT = { name: 'product', version: '0.1.0', license: 'Apache-2.0' };

t.test(
  'is valid with scoped packages, license expressions and packages that are bundled more than once',
  async (t) => {
    const packages = [
      bundled('plain', 'MIT'),
      bundled('@scope/name', '(MIT OR Apache-2.0)'),
      bundled('plain', 'MIT'),
    ];
    t.equal(await problemsIn(createSbom(PRODUCT, packages)), null);
    t.equal(await problemsIn(createSbom(PRODUCT, [])), null);
  },
);

t.test('is invalid with a license that is not an SPDX identifier', async (t) => {
  t.ok(await problemsIn(createSbom(PRODUCT, [bundled('plain', 'Mine')])));
});

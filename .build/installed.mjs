import { execSync } from 'node:child_process';
import { createRequire } from 'node:module';

/** npm runs this after it has installed the packages of a checkout: builds the programs if the bundler is installed. */

const canBuild = () => {
  try {
    return createRequire(import.meta.url).resolve('rolldown') !== '';
  } catch {
    return false;
  }
};

if (canBuild()) execSync('npm run build:js', { stdio: 'inherit' });
else {
  console.log(
    'troupe: nothing is built, since the packages for development are left out; to run the service without them, install what `npm pack` makes',
  );
}

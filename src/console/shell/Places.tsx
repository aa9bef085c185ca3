import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import type { Screen } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };

export const Places = ({ screens }: { screens: readonly Screen[] }) => {
  const t = useTexts(shellTexts);
  return (
    <ul className="row center">
      {screens.flatMap(({ nav, path, label }) =>
        nav
          ? [
              <li key={path}>
                <ScreenLink to={path}>{t(label)}</ScreenLink>
              </li>,
            ]
          : [],
      )}
    </ul>
  );
};

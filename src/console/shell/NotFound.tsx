import { useRouterState } from '@tanstack/react-router';
import look from '../design/Look.module.css';
import { EmptyState } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import css from './Shell.module.css';
import type { Screen } from './screen.ts';
import { shellTexts } from './texts.ts';

export const NotFound = ({ screens }: { screens: readonly Screen[] }) => {
  const t = useTexts(shellTexts);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return (
    <EmptyState
      isScreen
      title={t('notFound.title')}
      actions={
        <ul className={`${look.row} ${css.places}`}>
          {screens.flatMap(({ nav, path: to, label }) =>
            nav
              ? [
                  <li key={to}>
                    <ScreenLink to={to}>{t(label)}</ScreenLink>
                  </li>,
                ]
              : [],
          )}
        </ul>
      }
    >
      {t('notFound.text', { path })}
    </EmptyState>
  );
};

import { useRouterState } from '@tanstack/react-router';
import { useIdentity } from '../data/identity.ts';
import { EmptyState } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { Places } from './Places.tsx';
import type { Screen } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };
import { useScreens } from './use-screens.ts';

export const NotFound = ({ screens }: { screens: readonly Screen[] }) => {
  const t = useTexts(shellTexts);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const allowed = useScreens(screens, useIdentity().data);
  return (
    <EmptyState isScreen title={t('notFound.title')} actions={<Places screens={allowed} />}>
      {t('notFound.text', { path })}
    </EmptyState>
  );
};

import { GrantList } from '../access/Grants.tsx';
import { useIdentity } from '../data/identity.ts';
import { EmptyState } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { Places } from './Places.tsx';
import css from './Shell.module.css';
import type { Screen } from './screen.ts';
import shellTexts from './texts.json' with { type: 'json' };

/** A screen whose grants the principal lacks: which one is missing, and what it may use instead. */
export default function Forbidden({ screen, allowed }: { screen: Screen; allowed: readonly Screen[] }) {
  const t = useTexts(shellTexts);
  const who = useIdentity().data;
  const needs = screen.needs ?? [];
  return (
    <EmptyState
      isScreen
      title={t('forbidden.title', { screen: t(screen.label), grant: needs.join(' / ') })}
      actions={
        <div className={`stack ${css.missing}`}>
          <GrantList grants={needs} none="" />
          <Places screens={allowed} />
        </div>
      }
    >
      {t('forbidden.text', { user: who?.name ?? who?.user ?? '', scope: who?.scope ?? '' })}
    </EmptyState>
  );
}

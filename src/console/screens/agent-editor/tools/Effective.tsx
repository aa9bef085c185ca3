import { useState } from 'react';
import { Chip } from '../../../design/Chip.tsx';
import { controlLook, FilterSelect } from '../../../design/Field.tsx';
import { Card } from '../../../design/Layout.tsx';
import { Scroller } from '../../../design/Scroller.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import type { Verdict } from './selection.ts';
import css from './Tools.module.css';
import { texts } from './texts.ts';

/** What comes of both sides, tool by tool. */

const Reason = ({ reason }: { reason: Verdict['reason'] }) => {
  const t = useTexts(texts);
  if (reason.kind === 'unlisted') return <span>{t('reason.unlisted')}</span>;
  return (
    <span>
      {t(`reason.${reason.kind}`)} <span className={css.mono}>{reason.by}</span>
    </span>
  );
};

export const Effective = ({ verdicts }: { verdicts: readonly Verdict[] }) => {
  const t = useTexts(texts);
  const [which, choose] = useState('');
  const [search, find] = useState('');
  const visible = verdicts.filter(({ isVisible }) => isVisible).length;
  const shown = verdicts.filter(
    ({ id, isVisible }) =>
      (which === '' || isVisible === (which === 'visible')) &&
      id.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <Card
      title={t('effective')}
      note={t('effective.count', { visible, all: verdicts.length })}
      flush
      actions={
        <span className={css.filters}>
          <FilterSelect
            label={t('show')}
            value={which}
            options={[
              ['', t('show.all')],
              ['visible', t('visible')],
              ['hidden', t('hidden')],
            ]}
            onChange={choose}
          />
          <input
            type="search"
            className={`${controlLook} ${css.search}`}
            placeholder={t('search')}
            aria-label={t('effective.search')}
            value={search}
            onChange={(event) => find(event.target.value)}
          />
        </span>
      }
    >
      <Scroller label={t('effective')} className={css.tools}>
        <table className={css.table}>
          <tbody>
            {shown.map(({ id, isVisible, reason }) => (
              <tr key={id} data-hidden={!isVisible || undefined}>
                <td className={css.mono}>{id}</td>
                <td>
                  <Chip tone={isVisible ? 'success' : 'none'}>{t(isVisible ? 'visible' : 'hidden')}</Chip>
                </td>
                <td className={css.reason}>
                  <Reason reason={reason} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        {shown.length === 0 && <p className={css.none}>{t('noMatch')}</p>}
      </Scroller>
    </Card>
  );
};

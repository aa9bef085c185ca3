import { useTexts } from '../i18n/locale.ts';
import type { View } from './Message.tsx';
import { texts } from './texts.ts';
import css from './ViewSwitch.module.css';

const VIEWS: readonly View[] = ['readable', 'json'];

export const ViewSwitch = ({ view, onChange }: { view: View; onChange: (view: View) => void }) => {
  const t = useTexts(texts);
  return (
    <fieldset className={css.switch} aria-label={t('view.label')}>
      {VIEWS.map((each) => (
        <button key={each} type="button" aria-pressed={view === each} onClick={() => onChange(each)}>
          {t(`view.${each}`)}
        </button>
      ))}
    </fieldset>
  );
};

import { useParams } from '@tanstack/react-router';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useCharts } from '../../live-charts/charts.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { WayTo } from './ActorDetail.tsx';
import texts from './texts.json' with { type: 'json' };
import { Wall } from './Wall.tsx';

/** The id of an actor starts with its machine. */
const wayTo: WayTo = (id) => {
  const machine = id.slice(0, id.indexOf(':'));
  return { machine, to: `/statecharts/${machine}` };
};

export default function Machine() {
  const t = useTexts(texts);
  const { machine = '' } = useParams({ strict: false });
  const charts = useCharts(machine);
  if (charts === undefined) return <SkeletonRows />;
  if (charts === null) {
    return (
      <EmptyState
        title={t('unknown', { name: machine })}
        actions={<ScreenLink to="/statecharts">{t('all')}</ScreenLink>}
      >
        {t('unknownText')}
      </EmptyState>
    );
  }
  return <Wall key={machine} name={machine} machine={machine} charts={charts} wayTo={wayTo} />;
}

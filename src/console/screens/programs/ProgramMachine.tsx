import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { Loaded } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { WayTo } from '../statecharts/ActorDetail.tsx';
import wallTexts from '../statecharts/texts.json' with { type: 'json' };
import { Wall } from '../statecharts/Wall.tsx';
import { placeOf, programActors, useProgramChart, whyNoChart } from './programs.ts';
import texts from './texts.json' with { type: 'json' };

/** A machine of another program with its actors. */

/** Looks up the machine and the children of actors, which their ids and records do not contain. */
const useOthers = (program: string): { wayTo: WayTo; childrenOf: (id: string) => string[] } => {
  const { data } = useResource(programActors(program));
  return useMemo(() => {
    const items = data?.items ?? [];
    const machines = new Map(items.map(({ id, machine }) => [id, machine]));
    return {
      wayTo(id) {
        const key = machines.get(id);
        return key === undefined ? undefined : { machine: key.slice(key.indexOf('/') + 1), to: placeOf(key) };
      },
      childrenOf: (id) => items.flatMap((other) => (other.parent === id ? [other.id] : [])),
    };
  }, [data]);
};

const Machine = ({ program, machine }: { program: string; machine: string }) => {
  const t = useTexts(texts);
  const own = useTexts(wallTexts);
  const chart = useProgramChart(program, machine);
  const others = useOthers(program);
  if (statusOf(chart.error) === 404) {
    return (
      <EmptyState title={t('unknown')} actions={<ScreenLink to="/statecharts">{own('all')}</ScreenLink>}>
        {t('unknownText')}
      </EmptyState>
    );
  }
  return (
    <Loaded query={chart}>
      {(found) => (
        <Wall name={found.name} machine={`${program}/${machine}`} elsewhere charts={found.charts} {...others}>
          <p>{whyNoChart(t, found)}</p>
        </Wall>
      )}
    </Loaded>
  );
};

export default function ProgramMachine() {
  const { program = '', machine = '' } = useParams({ strict: false });
  return <Machine key={`${program}/${machine}`} program={program} machine={machine} />;
}

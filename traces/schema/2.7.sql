-- Core tables of export schema 2.7.1 (nsys 2021.5), after NVIDIA's User Guide of that release.
-- No ENUM_* tables, metadata in EXPORT_META_DATA, CUDA_GRAPH_EVENTS holds graph node events.

-- duration is on the event clock; startTime/stopTime are on another clock
CREATE TABLE ANALYSIS_DETAILS (
  globalVid INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  startTime INTEGER NOT NULL,
  stopTime INTEGER NOT NULL
);
-- CPU samples
CREATE TABLE COMPOSITE_EVENTS (
  id INTEGER NOT NULL PRIMARY KEY,
  start INTEGER NOT NULL,
  cpu INTEGER,
  threadState INTEGER,
  globalTid INTEGER,
  cpuCycles INTEGER NOT NULL
);
-- graph NODE creation/clone
CREATE TABLE CUDA_GRAPH_EVENTS (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  eventClass INTEGER NOT NULL,
  globalTid INTEGER,
  nameId INTEGER NOT NULL,
  graphNodeId INTEGER NOT NULL,
  originalGraphNodeId INTEGER
);
-- event records; no time column in this era
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL,
  correlationId INTEGER,
  globalPid INTEGER,
  eventId INTEGER NOT NULL
);
-- one row per executed kernel (graph kernels only under node-level graph tracing)
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL,
  correlationId INTEGER REFERENCES CUPTI_ACTIVITY_KIND_RUNTIME(correlationId),
  globalPid INTEGER,
  demangledName INTEGER NOT NULL,
  shortName INTEGER NOT NULL,
  mangledName INTEGER,
  launchType INTEGER,
  cacheConfig INTEGER,
  registersPerThread INTEGER NOT NULL,
  gridX INTEGER NOT NULL,
  gridY INTEGER NOT NULL,
  gridZ INTEGER NOT NULL,
  blockX INTEGER NOT NULL,
  blockY INTEGER NOT NULL,
  blockZ INTEGER NOT NULL,
  staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL,
  localMemoryPerThread INTEGER NOT NULL,
  localMemoryTotal INTEGER NOT NULL,
  gridId INTEGER NOT NULL,
  sharedMemoryExecuted INTEGER,
  graphNodeId INTEGER,
  sharedMemoryLimitConfig INTEGER
);
-- device copies
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL,
  correlationId INTEGER REFERENCES CUPTI_ACTIVITY_KIND_RUNTIME(correlationId),
  globalPid INTEGER,
  bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL,
  deprecatedSrcId INTEGER,
  srcKind INTEGER,
  dstKind INTEGER,
  srcDeviceId INTEGER,
  srcContextId INTEGER,
  dstDeviceId INTEGER,
  dstContextId INTEGER,
  migrationCause INTEGER,
  graphNodeId INTEGER,
  virtualAddress INTEGER
);
-- device memsets
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL,
  correlationId INTEGER REFERENCES CUPTI_ACTIVITY_KIND_RUNTIME(correlationId),
  globalPid INTEGER,
  value INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  graphNodeId INTEGER,
  memKind INTEGER
);
-- CUDA runtime AND driver API calls; eventClass 0 = runtime, 1 = driver
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  eventClass INTEGER NOT NULL,
  globalTid INTEGER,
  correlationId INTEGER,
  nameId INTEGER NOT NULL REFERENCES StringIds(id),
  returnValue INTEGER NOT NULL,
  callchainId INTEGER
);
-- GPU-side view of sync calls
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  streamId INTEGER NOT NULL,
  correlationId INTEGER,
  globalPid INTEGER,
  syncType INTEGER NOT NULL,
  eventId INTEGER NOT NULL
);
-- key/value metadata, values always text
CREATE TABLE EXPORT_META_DATA (
  name TEXT NOT NULL,
  value TEXT
);
-- ranges/marks/domains; text XOR textId
CREATE TABLE NVTX_EVENTS (
  start INTEGER NOT NULL,
  "end" INTEGER,
  eventType INTEGER NOT NULL,
  rangeId INTEGER,
  category INTEGER,
  color INTEGER,
  text TEXT,
  globalTid INTEGER,
  endGlobalTid INTEGER,
  textId INTEGER REFERENCES StringIds(id),
  domainId INTEGER,
  uint64Value INTEGER,
  int64Value INTEGER,
  doubleValue REAL,
  uint32Value INTEGER,
  int32Value INTEGER,
  floatValue REAL,
  jsonTextId INTEGER,
  jsonText TEXT
);
-- libc/pthread calls
CREATE TABLE OSRT_API (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  eventClass INTEGER NOT NULL,
  globalTid INTEGER,
  nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL,
  nestingLevel INTEGER,
  callchainId INTEGER NOT NULL
);
-- frames of an OSRT_API row
CREATE TABLE OSRT_CALLCHAINS (
  id INTEGER NOT NULL,
  symbol INTEGER NOT NULL,
  module INTEGER NOT NULL,
  kernelMode INTEGER,
  thumbCode INTEGER,
  unresolved INTEGER,
  specialEntry INTEGER,
  originalIP INTEGER,
  unwindMethod INTEGER,
  stackDepth INTEGER NOT NULL,
  PRIMARY KEY (id, stackDepth)
);
-- every process seen on the machine, not only the profiled ones
CREATE TABLE PROCESSES (
  globalPid INTEGER,
  pid INTEGER,
  name TEXT
);
-- profiler's own cost
CREATE TABLE PROFILER_OVERHEAD (
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  globalTid INTEGER,
  nameId INTEGER NOT NULL,
  returnValue INTEGER NOT NULL
);
-- captured stdout/stderr of the target (text lives in StringIds!)
CREATE TABLE ProcessStreams (
  globalPid INTEGER NOT NULL,
  filenameId INTEGER NOT NULL,
  contentId INTEGER NOT NULL
);
-- frames of a sample, stackDepth 0 = leaf
CREATE TABLE SAMPLING_CALLCHAINS (
  id INTEGER NOT NULL,
  symbol INTEGER NOT NULL,
  module INTEGER NOT NULL,
  kernelMode INTEGER,
  thumbCode INTEGER,
  unresolved INTEGER,
  specialEntry INTEGER,
  originalIP INTEGER,
  unwindMethod INTEGER,
  stackDepth INTEGER NOT NULL,
  PRIMARY KEY (id, stackDepth)
);
-- context switches, NOT sorted by start
CREATE TABLE SCHED_EVENTS (
  start INTEGER NOT NULL,
  cpu INTEGER NOT NULL,
  isSchedIn INTEGER NOT NULL,
  globalTid INTEGER
);
-- string dictionary; every *Name/nameId/textId/symbol/module/contentId points here
CREATE TABLE StringIds (
  id INTEGER NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
);
-- context -> device map, also names the null stream
CREATE TABLE TARGET_INFO_CUDA_NULL_STREAM (
  streamId INTEGER NOT NULL,
  hwId INTEGER NOT NULL,
  vmId INTEGER NOT NULL,
  processId INTEGER NOT NULL,
  deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL
);
-- priority is a wrapped uint32: 4294967291 means -5
CREATE TABLE TARGET_INFO_CUDA_STREAM (
  streamId INTEGER NOT NULL,
  hwId INTEGER NOT NULL,
  vmId INTEGER NOT NULL,
  processId INTEGER NOT NULL,
  contextId INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  flag INTEGER NOT NULL
);
-- one row per GPU visible to nsys
CREATE TABLE TARGET_INFO_GPU (
  vmId INTEGER NOT NULL,
  id INTEGER NOT NULL,
  name TEXT,
  busLocation TEXT,
  isDiscrete INTEGER,
  l2CacheSize INTEGER,
  totalMemory INTEGER,
  memoryBandwidth INTEGER,
  clockRate INTEGER,
  smCount INTEGER,
  pwGpuId INTEGER,
  uuid TEXT,
  luid INTEGER,
  chipName TEXT,
  cuDevice INTEGER,
  ctxswDevPath TEXT,
  ctrlDevPath TEXT,
  revision INTEGER,
  nodeMask INTEGER,
  constantMemory INTEGER,
  maxIPC INTEGER,
  maxRegistersPerBlock INTEGER,
  maxShmemPerBlock INTEGER,
  maxShmemPerBlockOptin INTEGER,
  maxShmemPerSm INTEGER,
  maxRegistersPerSm INTEGER,
  threadsPerWarp INTEGER,
  asyncEngines INTEGER,
  maxWarpsPerSm INTEGER,
  maxBlocksPerSm INTEGER,
  maxThreadsPerBlock INTEGER,
  maxBlockDimX INTEGER,
  maxBlockDimY INTEGER,
  maxBlockDimZ INTEGER,
  maxGridDimX INTEGER,
  maxGridDimY INTEGER,
  maxGridDimZ INTEGER,
  computeMajor INTEGER,
  computeMinor INTEGER,
  smMajor INTEGER,
  smMinor INTEGER
);
-- wall clock at session time 0
CREATE TABLE TARGET_INFO_SESSION_START_TIME (
  utcEpochNs INTEGER,
  utcTime TEXT,
  localTime TEXT
);
-- key/value system facts (contains env vars: redact)
CREATE TABLE TARGET_INFO_SYSTEM_ENV (
  globalVid INTEGER NOT NULL,
  devStateName TEXT NOT NULL,
  name TEXT NOT NULL,
  nameEnum INTEGER NOT NULL,
  value TEXT NOT NULL
);
-- thread name per globalTid (may hold several rows per thread)
CREATE TABLE ThreadNames (
  nameId INTEGER NOT NULL REFERENCES StringIds(id),
  priority INTEGER,
  globalTid INTEGER
);

INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_VERSION', '2021.5.1.0');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_DATE', '2021.5');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION', '2.7.1');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '2');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MINOR', '7');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MICRO', '1');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PLATFORM', 'linux-desktop');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_ARCH', 'x64');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_TIME_UTC', '2026-01-01T00:00:00');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_OUTUPT_FILE', 'fixture.sqlite');
INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_LAZY', 'true');

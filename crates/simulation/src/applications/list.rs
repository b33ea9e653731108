//! The list of applications that plans can name.

/// Declares the modules of applications, and the enum of their plans with its methods. Each entry has the name that
/// plans use, and the type of the application, which implements [`Planned`](super::Planned).
macro_rules! applications {
    ($($name:literal => $module:ident::$type:ident,)*) => {
        $(mod $module;)*

        /// Application other than one stream of bytes.
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = "kind", deny_unknown_fields)]
        pub enum WorkloadPlan {
            $(
                #[doc = concat!("See `", stringify!($type), "`.")]
                #[serde(rename = $name, deserialize_with = "crate::plan::declared::read")]
                $type(<$module::$type as Planned>::Settings),
            )*
            /// Datagrams, without any connection.
            #[serde(rename = "datagrams")]
            Datagrams(crate::plan::datagram::DatagramPlan),
            /// An application that [the caller provides](crate::External).
            #[serde(rename = "external")]
            External {
                /// Name of the application, which contains a colon.
                name: String,
            },
        }

        impl WorkloadPlan {
            /// Whether the application opens and closes connections during the run.
            pub(crate) fn is_many(&self) -> bool {
                match self {
                    $(WorkloadPlan::$type(_) => <$module::$type as Planned>::IS_MANY,)*
                    WorkloadPlan::Datagrams(_) => false,
                    WorkloadPlan::External { .. } => true,
                }
            }

            /// Rejects settings that are out of range. `path` is the path of the workload in the plan. `span_ns` is the
            /// longest run time of the workload.
            pub(crate) fn check(&self, path: &str, span_ns: u64) -> crate::plan::range::Check {
                match self {
                    $(WorkloadPlan::$type(settings) => {
                        crate::plan::declared::check(settings, path)?;
                        <$module::$type as Planned>::check(settings, path, span_ns)
                    })*
                    WorkloadPlan::Datagrams(datagrams) => datagrams.check(path),
                    WorkloadPlan::External { .. } => Ok(()),
                }
            }

            /// Builds the application of a flow.
            ///
            /// # Panics
            /// If the application is external or sends datagrams.
            fn build(&self, flow: &FlowStart<'_>) -> Box<dyn Application> {
                match self {
                    $(WorkloadPlan::$type(settings) => Box::new(<$module::$type as Planned>::new(settings, flow)),)*
                    WorkloadPlan::Datagrams(_) => panic!("datagrams need no connection"),
                    WorkloadPlan::External { .. } => panic!("the caller builds external applications"),
                }
            }
        }

        /// Every application that a plan can name, in order.
        pub fn descriptors() -> Vec<params::Descriptor> {
            vec![$(params::Descriptor {
                name: $name,
                title: <$module::$type as Planned>::TITLE,
                source: <$module::$type as Planned>::SOURCE,
                params: <<$module::$type as Planned>::Settings as params::Params>::specs,
            },)*
            // Datagrams are no parameters: the schema of the plan describes them.
            params::Descriptor {
                name: "datagrams",
                title: "Datagrams on a schedule that does not react to loss or delay",
                source: "",
                params: Vec::new,
            }]
        }
    };
}
pub(super) use applications;
